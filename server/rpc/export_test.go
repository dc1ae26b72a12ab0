package rpc

// ZeroByte is for tests.
var ZeroByte = zeroByte
