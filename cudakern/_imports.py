"""Imports while the package is in use."""

import threading

#: In the child of a fork, an import that was in progress in another thread never ends, and hangs whoever needs that
#: module. Forks wait for imports under this lock.
IMPORTING = threading.RLock()
