# Runs the fuzzing client of the Autobahn suite, which is written in Python 2: for Jython, or python2.
#
# usage: autobahn.py SUITE -m fuzzingclient -s SPECIFICATION, where SUITE is a directory with the suite's packages
import sys

sys.path.insert(0, sys.argv.pop(1))
from autobahntestsuite import wstest

wstest.run()
