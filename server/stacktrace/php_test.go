package stacktrace_test

import "testing"

// A line names the place of a call; the frame has the place in the function that was called.
func TestPHP(t *testing.T) {
	check(t, `PHP Fatal error:  Uncaught PDOException: gone in /srv/src/Db.php:7
Stack trace:
#0 /srv/src/Orders.php(12): Shop\Db->insert(Array)
#1 [internal function]: Shop\Orders::place('a (b)')
#2 /srv/vendor/x/y.php(3): array_map(Object(Closure), Array)
#3 {main}

Next Shop\Failed: failed in /srv/src/Orders.php:14
Stack trace:
#0 /srv/index.php(3): helper()`, `failed`, `cause Shop\Failed
php  helper /srv/src/Orders.php:14 *
cause PDOException
php Shop\Db insert /srv/src/Db.php:7 *
php Shop\Orders place /srv/src/Orders.php:12 *
php  array_map :0
php  {main} /srv/vendor/x/y.php:3`)
}
