package tool

import (
	"reflect"
	"testing"
)

func TestFailuresNameTheToolsParameter(t *testing.T) {
	params, err := paramsOf(reflect.TypeFor[struct {
		Call
		SessionID string `required:"true"`
	}](), nil)
	if err != nil {
		t.Fatal(err)
	}
	session := &Tool{Run: Runner{params: params}}
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
