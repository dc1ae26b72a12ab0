package stacktrace_test

import "testing"

// The causes come before the error that they caused.
func TestDotNet(t *testing.T) {
	check(t, `A.Outer: a ---> B.Inner: b
   at B.Db.<Load>d__5.MoveNext() in /src/Db.cs:line 3
   --- End of inner exception stack trace ---
   at System.Threading.Tasks.Task.Wait()
   at A.Web.Run[T](String a, Int32 b) in C:\src\Web.cs:line 7`, `a`, `cause A.Outer
dotnet System.Threading.Tasks.Task Wait :0
dotnet A.Web Run C:\src\Web.cs:7 *
cause B.Inner
dotnet B.Db.<Load>d__5 MoveNext /src/Db.cs:3 *`)
}
