"""Real servers on this machine, without Docker.

    java            finds Java 17 or 21, or explains how to install it
    jars            the jars of a server: pinned and hashed in a lock file, fetched once to a cache
    ivy             fetches single jars, several at a time
    gateway         a JVM that Python can call (py4j, which is part of pyspark)
    managed_server  the common part of both servers; home, process, ports, startup are its parts
    neo4j           a managed Neo4j 5.26: own process, own home, loopback only, generated password
    kafka           a managed Kafka 4.1 with one broker, for tests and the stream: loopback only

A fetched jar is exactly the one in the lock file. A server survives the death of the process that
started it and is found again by its home. Nothing listens beyond this machine. A home that another
server holds, a port of another program and a jar with a wrong hash are refused. The package imports
nothing of Headwater but `headwater.errors`.
"""
