import accord

accord.Policy(".", flags=["write:src/**"])
