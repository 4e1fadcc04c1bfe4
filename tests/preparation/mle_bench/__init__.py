"""Raw data in Kaggle's layout, and what MLE-bench's own code makes of it."""
