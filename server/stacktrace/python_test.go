package stacktrace_test

import "testing"

// The text has the outermost call first, and causes before the error that they caused.
func TestPython(t *testing.T) {
	check(t, `Traceback (most recent call last):
  File "/app/db.py", line 4, in read
    raise KeyError("id")
KeyError: 'id'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/usr/lib/python3.11/asyncio/runners.py", line 190, in run
  File "/app/main.py", line 9, in <module>
    read()
    ~~~~^^
shop.Failed: failed`, `failed`, `cause shop.Failed
python  <module> /app/main.py:9 *
python  run /usr/lib/python3.11/asyncio/runners.py:190
cause KeyError
python  read /app/db.py:4 *`)
}
