package stacktrace_test

import "testing"

// Frames of Java, Kotlin and Scala; an asterisk marks a frame of the application.
func TestJava(t *testing.T) {
	check(t, `java.lang.IllegalStateException: no stock
	at app//com.acme.Cart.lambda$total$3(Cart.java:52)
	at java.base@21/java.lang.Thread.run(Thread.java:1583)
	at com.acme.Cart$$Lambda$14/0x00000008.apply(Unknown Source)
	at jdk.proxy2/jdk.proxy2.$Proxy118.save(Unknown Source)
	at com.acme.Native.call(Native Method) ~[shop.jar:1.0]
Caused by: com.acme.Lost: gone
	at com.acme.Db.read(Db.kt:5)
	... 12 more`, `no stock`, `cause java.lang.IllegalStateException
java com.acme.Cart lambda$total$3 Cart.java:52 *
java java.lang.Thread run Thread.java:1583
java com.acme.Cart$$Lambda$14/0x00000008 apply Unknown Source:0
java jdk.proxy2.$Proxy118 save Unknown Source:0
java com.acme.Native call Native Method:0 *
cause com.acme.Lost
java com.acme.Db read Db.kt:5 *`)
	check(t, `Exception in thread "main" a.B: x
	at org.acme.Main.main(Main.scala:1)
	Suppressed: a.C: y
		at org.acme.Close.close(Close.java:2)`, `x`, `cause a.B
java org.acme.Main main Main.scala:1 *
aside a.C
java org.acme.Close close Close.java:2 *`)
}
