package chdb

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// library holds the functions of chdb.h that the engine needs. A result and an insert stream are opaque C pointers (uintptr),
// which the caller must destroy.
type library struct {
	version        func() string
	signalHandlers func(enabled int32)
	connect        func(argc int32, argv **byte) *uintptr
	closeConn      func(conn *uintptr)
	shutdown       func() int32

	query func(conn uintptr, sql *byte, n uintptr, format *byte, fn uintptr, names **byte, nameLens *uintptr, values **byte,
		valueLens *uintptr, count uintptr) uintptr
	streamQuery func(conn uintptr, sql *byte, n uintptr, format *byte, fn uintptr, names **byte, nameLens *uintptr, values **byte,
		valueLens *uintptr, count uintptr) uintptr
	fetch       func(conn, result uintptr) uintptr
	cancelQuery func(conn, result uintptr)
	classify    func(conn uintptr, sql *byte, n uintptr, database *byte, dn uintptr, analysis *queryAnalysis) int32

	destroyResult func(result uintptr)
	buffer        func(result uintptr) *byte
	length        func(result uintptr) uintptr
	errorText     func(result uintptr) string
	storageRows   func(result uintptr) uint64
	storageBytes  func(result uintptr) uint64
	rowsRead      func(result uintptr) uint64
	bytesRead     func(result uintptr) uint64
	rowsWritten   func(result uintptr) uint64
	bytesWritten  func(result uintptr) uint64

	insert        func(conn uintptr, sql *byte, n uintptr, format *byte, fn uintptr) uintptr
	appendInsert  func(stream uintptr, data *byte, n uintptr) int32
	finishInsert  func(stream uintptr) uintptr
	cancelInsert  func(stream uintptr)
	insertError   func(stream uintptr) string
	destroyInsert func(stream uintptr)
}

// queryAnalysis is chdb_query_analysis_v1.
type queryAnalysis struct {
	structSize, statements, _, class uint32
}

// loadLibrary opens the library and switches off its signal handlers. This must happen before the first connect: the handlers
// would replace those of the Go runtime, and a recovered nil dereference would then hang the process.
func loadLibrary(path string) (*library, error) {
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("cannot load the engine library %s: %w", path, err)
	}
	var l library
	for _, f := range []struct {
		fn   any
		name string
	}{
		{&l.version, "chdb_version"},
		{&l.signalHandlers, "chdb_set_signal_handlers_enabled"},
		{&l.connect, "chdb_connect"},
		{&l.closeConn, "chdb_close_conn"},
		{&l.shutdown, "chdb_shutdown"},
		{&l.query, "chdb_query_with_params_n"},
		{&l.streamQuery, "chdb_stream_query_with_params_n"},
		{&l.fetch, "chdb_stream_fetch_result"},
		{&l.cancelQuery, "chdb_stream_cancel_query"},
		{&l.classify, "chdb_classify_query_n"},
		{&l.destroyResult, "chdb_destroy_query_result"},
		{&l.buffer, "chdb_result_buffer"},
		{&l.length, "chdb_result_length"},
		{&l.errorText, "chdb_result_error"},
		{&l.storageRows, "chdb_result_storage_rows_read"},
		{&l.storageBytes, "chdb_result_storage_bytes_read"},
		{&l.rowsRead, "chdb_result_rows_read"},
		{&l.bytesRead, "chdb_result_bytes_read"},
		{&l.rowsWritten, "chdb_result_rows_written"},
		{&l.bytesWritten, "chdb_result_bytes_written"},
		{&l.insert, "chdb_stream_insert_n"},
		{&l.appendInsert, "chdb_stream_append"},
		{&l.finishInsert, "chdb_stream_done"},
		{&l.cancelInsert, "chdb_stream_cancel_insert"},
		{&l.insertError, "chdb_stream_insert_error"},
		{&l.destroyInsert, "chdb_destroy_insert_stream"},
	} {
		symbol, err := purego.Dlsym(handle, f.name)
		if err != nil {
			return nil, fmt.Errorf("the engine library %s lacks %s; this build needs libchdb %s: %w", path, f.name, Version, err)
		}
		purego.RegisterFunc(f.fn, symbol)
	}
	l.signalHandlers(0)
	return &l, nil
}

// cStrings lays strings out as char*[] with their lengths. The nested pointers stay valid until the pinner is unpinned.
func cStrings(pin *runtime.Pinner, strs []string) (pointers **byte, lengths *uintptr) {
	if len(strs) == 0 {
		return nil, nil
	}
	ptrs := make([]*byte, len(strs)+1)
	lens := make([]uintptr, len(strs))
	for i, s := range strs {
		b := append([]byte(s), 0)
		pin.Pin(&b[0])
		ptrs[i], lens[i] = &b[0], uintptr(len(s))
	}
	return &ptrs[0], &lens[0]
}

// result copies the outcome of a finished statement and destroys the C result.
func (l *library) result(r uintptr) (Summary, []byte, error) {
	defer l.destroyResult(r)
	if text := l.errorText(r); text != "" {
		return Summary{}, nil, newException(text)
	}
	s := Summary{ReadRows: l.storageRows(r), ReadBytes: l.storageBytes(r), WrittenRows: l.rowsWritten(r), WrittenBytes: l.bytesWritten(r)}
	var out []byte
	if n := l.length(r); n > 0 {
		out = append(out, unsafe.Slice(l.buffer(r), n)...)
	}
	return s, out, nil
}
