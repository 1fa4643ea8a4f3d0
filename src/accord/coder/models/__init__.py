"""Models: whoever decides what is said and which tool is used next. All of them stand behind one interface."""
