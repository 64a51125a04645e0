"""Files of a folder or a bucket that are judged one by one, each counted once its manifest says so."""
