"""Actions: one script per kind of request, which calls tools and describes their results."""
