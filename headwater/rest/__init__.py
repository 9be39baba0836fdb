"""What is asked over REST: registered assets, Marquez' paths, Atlas' lineage, each in the shape its clients know."""
