"""Simulated Sparks: whole runs of pyinfra against hosts that exist only in memory, with a fault at any command.

What is real: pyinfra's own command line in a process of its own, the site, deploys, operations, the planner, approval,
receipts, and everything above paramiko. `kill -9` is a real SIGKILL of that process, and the next run finds its
controller gone because it is.

What is simulated, from the connection down: `SSHConnector` is replaced, and what it would send is carried out on a
`SimulatedSpark`.

* A *look* (a bundle) is known by the program that it would send, and each fact in it is answered from the host's
  state. The answers of `lock`, `guard`, `session`, `kernel` and `generation` are text for the facts' real parsers;
  the other sections are handed over as the values that their parsers would give: nothing here is about parsing them.
* A *step* is known by the step that its command carries. Its script is not run: the host goes through the states that
  the script makes, in its order (`stages`), and a fault can fall between two of them. Scripts themselves are tested on
  played hosts and on virtual Sparks.
* The lock's scripts are known by their text; their effect is played here, and the real ones are tested in
  `tests/operations/test_lock_script.py`.
* A *boot* keeps what is on disk (netplan documents, the unit's files and whether they are enabled, models, stamps) and
  makes from it what a host makes from it; all else is gone.

A test of simulated Sparks takes no machine and no network, and about a second of a processor for each run.

Not simulated: time (waiting is skipped), commands of others, anything under guard, a host that fails half a file.
"""
