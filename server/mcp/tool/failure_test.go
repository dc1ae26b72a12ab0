package tool

import (
	"testing"
)

func TestFailuresNameTheToolsParameter(t *testing.T) {
	session := &Tool{Params: []Param{{Name: "session_id", Kind: KindText, Required: true}}}
	for field, want := range map[string]string{"id": "session_id", "session_id": "session_id", "nothing": ""} {
		if got := session.parameterOf(field); got != want {
			t.Errorf("%s: %q, want %q", field, got, want)
		}
	}
	d := session.named("id", Failure{Message: "id is not the id of a session replay."})
	if d.Parameter != "session_id" || d.Message != "session_id is not the id of a session replay." {
		t.Errorf("%+v", d)
	}
}
