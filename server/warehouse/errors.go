package warehouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/svc-observability/svc/server/warehouse/chdb"
)

// Kinds of failure, for errors.Is. Every error of ClickHouse, or of the connection to it, is an *Error of one of these kinds.
// A cancelled context stays context.Canceled.
var (
	// ErrUnavailable means that ClickHouse does not answer, or accepts no more statements now. Try again after RetryAfter.
	ErrUnavailable = errors.New("warehouse unavailable")
	// ErrBusy means that the organization has as many reads in the engine as it may have. Reads whose callers have left count too. Try again
	// after RetryAfter.
	ErrBusy = errors.New("too many reads of the organization run at once")
	// ErrTimeout means that the statement took longer than its limit.
	ErrTimeout = errors.New("warehouse query timed out")
	// ErrMemory means that the statement needs more memory than its limit.
	ErrMemory = errors.New("warehouse query needs too much memory")
	// ErrTooCostly means that the statement reads or returns more rows than its limit.
	ErrTooCostly = errors.New("warehouse query reads too much")
	// ErrAuth means that ClickHouse, or a proxy before it, refuses the credentials of the server.
	ErrAuth = errors.New("warehouse refuses the credentials")
	// ErrConfig means that the user of the server lacks a permission, or ClickHouse lacks a setting, a role or a cluster.
	ErrConfig = errors.New("warehouse is configured wrongly")
	// ErrSchema means that a statement of the server names a table, a column or a function that ClickHouse does not have. Its schema differs
	// from the migrations.
	ErrSchema = errors.New("warehouse schema differs from the migrations")
	// ErrMalformed means that a statement of the server has a syntax error, or its values do not fit it.
	ErrMalformed = errors.New("warehouse statement is malformed")
	// ErrDecode means that the rows do not have the columns or types that the server expects.
	ErrDecode = errors.New("warehouse answer cannot be read")
	// ErrClient means that the server at the address does not speak ClickHouse's protocol as the driver knows it.
	ErrClient = errors.New("warehouse does not speak the protocol")
	// ErrScope means that the protection between organizations is missing, or a statement does not name its organization. Nothing was read.
	ErrScope = errors.New("warehouse statement is not confined to its organization")
	// ErrOther means that ClickHouse refuses the statement or the data for another reason.
	ErrOther = errors.New("warehouse error")
)

// Error is a failure of ClickHouse or of the way to it. Its text is for logs: it can hold values of stored rows.
type Error struct {
	Kind error
	// Code is ClickHouse's, 0 when it did not answer.
	Code    int
	Message string
	// RetryAfter is when to try again, for ErrUnavailable.
	RetryAfter time.Duration
	// Own says that in SelectConfined a statement of the server failed, not the statement of the tenant.
	Own     bool
	refused bool
	cause   error
}

func (e *Error) Error() string {
	if e.Code != 0 {
		return fmt.Sprintf("%s: code %d: %s", e.Kind, e.Code, e.Message)
	}
	return fmt.Sprintf("%s: %s", e.Kind, e.Message)
}

// Is makes errors.Is match the kind.
func (e *Error) Is(target error) bool { return target == e.Kind }

func (e *Error) Unwrap() error { return e.cause }

// Retryable reports whether the same call may succeed later, perhaps after an operator has repaired the schema, the grants, the password
// or the memory. If an insert is not retryable, ClickHouse refused its rows: they do not fit the table.
func (e *Error) Retryable() bool { return !e.refused }

// refusedCode reports whether a code is about the rows of an insert. Every other code is about the server, the schema, the user
// or a passing state of one of them. After such a code the rows wait, because nothing is wrong with them.
func refusedCode(code int) bool {
	switch code {
	case 6, 27, 38, 41, 72, // CANNOT_PARSE_TEXT, …_INPUT_ASSERTION_FAILED, …_DATE, …_DATETIME, …_NUMBER
		32, 33, // ATTEMPT_TO_READ_AFTER_EOF, CANNOT_READ_ALL_DATA
		69, 321, 407, // ARGUMENT_OUT_OF_BOUND, VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE, DECIMAL_OVERFLOW
		117,           // INCORRECT_DATA
		128, 131, 190, // TOO_LARGE_ARRAY_SIZE, TOO_LARGE_STRING_SIZE, SIZES_OF_ARRAYS_DONT_MATCH
		349,      // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
		395, 469, // FUNCTION_THROW_IF_VALUE_IS_NON_ZERO, VIOLATED_CONSTRAINT
		691: // UNKNOWN_ELEMENT_OF_ENUM
		return true
	}
	return false
}

// Suspect reports whether the cause of the code is unknown: the code is listed neither as one about the rows nor as one about the
// server, the schema or the user. A function of a view fails with such a code when it cannot handle a value. A caller that gets
// such a code again and again must not let one block hold up the others.
func (e *Error) Suspect() bool {
	return errors.Is(e.Kind, ErrOther) && e.Code != 0 && !e.refused && !outsideCode(e.Code)
}

// outsideCode reports whether a code of ErrOther is about the server, the schema or the user. Rows wait until an operator has
// repaired it.
func outsideCode(code int) bool {
	switch code {
	case 20, 53, 57, 73, 80, 82, 119, 122, 218, 342, // wrong columns, types, tables and formats
		201, 372, 373, // quotas, sessions
		74, 75, 76, 77, 87, 107, 173, 243, 341, 425, 439, 499, 528, // files, disks, memory, threads
		198, 236, 253, 254, 285, 286, 289, 319, 394, 473, 571, 668: // replicas, clusters, shutdown, a query that was stopped
		return true
	}
	return false
}

const (
	unavailableRetryAfter = time.Second
	busyRetryAfter        = 5 * time.Second
)

func codeError(code int, message string, cause error) *Error {
	e := &Error{Kind: kindOf(code), Code: code, Message: message, refused: refusedCode(code), cause: cause}
	switch {
	case errors.Is(e.Kind, ErrUnavailable):
		e.RetryAfter = unavailableRetryAfter
	case errors.Is(e.Kind, ErrBusy):
		e.RetryAfter = busyRetryAfter
	}
	return e
}

// kindOf returns the kind of a ClickHouse error code (src/Common/ErrorCodes.cpp). A code that may be caused by either side is
// ErrOther.
func kindOf(code int) error {
	switch code {
	case 159, 160, 209: // TIMEOUT_EXCEEDED, TOO_SLOW, SOCKET_TIMEOUT
		return ErrTimeout
	case 241: // MEMORY_LIMIT_EXCEEDED
		return ErrMemory
	case 158, 307, 396: // TOO_MANY_ROWS, TOO_MANY_BYTES, TOO_MANY_ROWS_OR_BYTES
		return ErrTooCostly
	// TOO_MANY_SIMULTANEOUS_QUERIES, NO_FREE_CONNECTION, NETWORK_ERROR, NO_ZOOKEEPER, TABLE_IS_READ_ONLY, TOO_MANY_PARTS,
	// ALL_CONNECTION_TRIES_FAILED, KEEPER_EXCEPTION
	case 202, 203, 210, 225, 242, 252, 279, chdb.CodeRestarting, 999:
		return ErrUnavailable
	case chdb.CodeOrganizationBusy:
		return ErrBusy
	case 192, 193, 194, 195, 516: // UNKNOWN_USER, WRONG_PASSWORD, REQUIRED_PASSWORD, IP_ADDRESS_NOT_ALLOWED, AUTHENTICATION_FAILED
		return ErrAuth
	// UNKNOWN_SETTING, READONLY, THERE_IS_NO_PROFILE, DATABASE_ACCESS_DENIED, SUPPORT_IS_DISABLED, FUNCTION_NOT_ALLOWED,
	// SETTING_CONSTRAINT_VIOLATION, ACCESS_DENIED, UNKNOWN_ROLE, CLUSTER_DOESNT_EXIST
	case 115, 164, 180, 291, 344, 446, 452, 497, 511, 701:
		return ErrConfig
	// THERE_IS_NO_COLUMN, NOT_FOUND_COLUMN_IN_BLOCK, NO_SUCH_COLUMN_IN_TABLE, UNKNOWN_FUNCTION, UNKNOWN_IDENTIFIER,
	// UNKNOWN_TYPE, UNKNOWN_TABLE, UNKNOWN_AGGREGATE_FUNCTION, UNKNOWN_DATABASE
	case 8, 10, 16, 46, 47, 50, 60, 63, 81:
		return ErrSchema
	// TOO_MANY_ARGUMENTS_FOR_FUNCTION, TOO_FEW_…, NUMBER_OF_ARGUMENTS_DOESNT_MATCH, SYNTAX_ERROR,
	// MULTIPLE_EXPRESSIONS_FOR_ALIAS, ILLEGAL_AGGREGATION, AMBIGUOUS_IDENTIFIER, NOT_AN_AGGREGATE, AMBIGUOUS_COLUMN_NAME,
	// UNKNOWN_QUERY_PARAMETER, BAD_QUERY_PARAMETER
	case 34, 35, 42, 62, 179, 184, 207, 215, 352, 456, 457:
		return ErrMalformed
	}
	return ErrOther
}

// mapError turns an error of the driver or of the HTTP client into an *Error.
func mapError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	if ctx.Err() != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return &Error{Kind: ErrTimeout, Message: "the caller's deadline has passed", cause: context.DeadlineExceeded}
		}
		return fmt.Errorf("warehouse call was cancelled: %w", context.Cause(ctx))
	}
	var ex *clickhouse.Exception
	if errors.As(err, &ex) {
		return codeError(int(ex.Code), ex.Message, err)
	}
	var httpErr *clickhouse.HTTPError
	if errors.As(err, &httpErr) {
		return statusError(httpErr.StatusCode, httpErr.Error())
	}
	if isNetwork(err) {
		return unavailable(err)
	}
	return &Error{Kind: ErrClient, Message: err.Error(), cause: err}
}

func decodeError(err error) error {
	return &Error{Kind: ErrDecode, Message: err.Error(), cause: err}
}

func scopeError(format string, args ...any) error {
	return &Error{Kind: ErrScope, Message: fmt.Sprintf(format, args...)}
}

// ofOurs marks an error as the failure of a statement that the server runs to prepare a tenant's statement.
func ofOurs(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	own := *e
	own.Own = true
	return &own
}

func unavailable(err error) *Error {
	return &Error{Kind: ErrUnavailable, Message: err.Error(), RetryAfter: unavailableRetryAfter, cause: err}
}

// statusError is the error for an HTTP answer without an exception: it comes from a proxy or from a wrong address.
func statusError(status int, text string) *Error {
	if len(text) > 512 {
		text = text[:512]
	}
	e := &Error{Kind: ErrClient, Message: fmt.Sprintf("HTTP status %d: %s", status, strings.TrimSpace(text))}
	e.refused = status == http.StatusRequestEntityTooLarge // the proxy that says so may accept fewer rows
	switch {
	case status >= http.StatusInternalServerError || status == http.StatusTooManyRequests:
		e.Kind, e.RetryAfter = ErrUnavailable, unavailableRetryAfter
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusProxyAuthRequired:
		e.Kind = ErrAuth
	}
	return e
}

// isNetwork reports whether the connection failed: refused, reset, or cut off before the end of an answer.
func isNetwork(err error) bool {
	var netErr net.Error
	var errno syscall.Errno
	return errors.As(err, &netErr) || errors.As(err, &errno) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, clickhouse.ErrAcquireConnTimeout) ||
		strings.Contains(err.Error(), "server closed idle connection") || strings.Contains(err.Error(), "connection reset")
}
