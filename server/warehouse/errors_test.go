package warehouse

import (
	"errors"
	"net/http"
	"testing"
)

// TestOnlyRowsAreRefused: only an error about the rows makes ingest give up an insert and set its records aside.
func TestOnlyRowsAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name      string
		err       error
		retryable bool
	}{
		{"incorrect data", codeError(117, "", nil), false},
		{"arrays of different lengths", codeError(190, "", nil), false},
		{"constraint", codeError(469, "", nil), false},
		{"rows too many for a proxy", statusError(http.StatusRequestEntityTooLarge, ""), false},

		{"unknown table", codeError(60, "", nil), true},
		{"unknown column", codeError(16, "", nil), true},
		{"unknown identifier", codeError(47, "", nil), true},
		{"unknown database", codeError(81, "", nil), true},
		{"type mismatch of a changed schema", codeError(53, "", nil), true},
		{"unknown setting", codeError(115, "", nil), true},
		{"readonly user", codeError(164, "", nil), true},
		{"unknown user", codeError(192, "", nil), true},
		{"wrong password", codeError(516, "", nil), true},
		{"access denied", codeError(497, "", nil), true},
		{"memory", codeError(241, "", nil), true},
		{"disk full", codeError(243, "", nil), true},
		{"too many parts", codeError(252, "", nil), true},
		{"cannot allocate memory", codeError(173, "", nil), true},
		{"logical error", codeError(49, "", nil), true},
		{"a code of the future", codeError(4711, "", nil), true},
		{"a proxy's 401", statusError(http.StatusUnauthorized, ""), true},
		{"a proxy's 404", statusError(http.StatusNotFound, ""), true},
		{"a proxy's 502", statusError(http.StatusBadGateway, ""), true},
		{"no connection", unavailable(errors.New("refused")), true},
		{"what nobody knows", mapError(t.Context(), errors.New("odd")), true},
	} {
		if got := Retryable(tt.err); got != tt.retryable {
			t.Errorf("%s: retryable is %t, want %t", tt.name, got, tt.retryable)
		}
	}
}
