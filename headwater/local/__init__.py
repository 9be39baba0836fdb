"""Real servers on this machine, without Docker.

    java    the machine's own Java 17 or 21, or a clear word how to install one
    jars    a server's jars: pinned and hashed in its lock file, fetched once into the user's cache
    gateway a JVM that Python can talk to (py4j, which comes with pyspark)
    neo4j   a managed Neo4j 5.26: its own process, its own home, loopback only, a generated password
    kafka   a managed Kafka 4.1 of one broker, for tests and for trying the stream: loopback only

Promises: what is fetched is exactly what the lock file names; a server survives the death of the
process that started it and is found again by its home; nothing listens beyond this machine.
Refuses: a home that another server holds, a port that another program has, a jar with a wrong hash.
Imports nothing of ours but `headwater.errors`.
"""
