"""`sparks status`: who holds the memory of every Spark, as a table and as a document."""
