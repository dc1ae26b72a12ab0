package demo

import "fmt"

// Stack traces in the formats of the languages.

func javaStack(head, method, file string, line int) string {
	return fmt.Sprintf("%s\n\tat %s(%s:%d)\n\tat shop.platform.Traced.call(Traced.java:48)\n\tat io.grpc.stub.ServerCalls$UnaryServerCallHandler$UnaryServerCallListener.onHalfClose(ServerCalls.java:182)\n\tat java.base/java.util.concurrent.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:1144)", head, method, file, line)
}

func nodeStack(app, file string, line int, function string) string {
	return fmt.Sprintf("Error\n    at %s (/app/%s:%d:11)\n    at async handler (/app/dist/server.js:88:5)\n    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)\n    [%s]", function, file, line, app)
}

func goStack(function, file string, line int) string {
	return fmt.Sprintf("goroutine 91 [running]:\n%s(0xc0003c4000)\n\t/src/%s:%d +0x1d8\nmain.(*server).handle(0xc000128000)\n\t/src/server.go:74 +0xb4", function, file, line)
}

func pythonStack(file string, line int, function string) string {
	return fmt.Sprintf("Traceback (most recent call last):\n  File \"/app/%s\", line %d, in %s\n    return self._collection.find(query)\n  File \"/app/platform/tracing.py\", line 31, in wrapper\n    return fn(*args)", file, line, function)
}
