import accord

accord.Limits(max_mesage_bytes=1000)
