package console_test

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/console"
	"github.com/svc-observability/svc/server/console/consoletest"
)

// TestRepositoryNames: a name is looked up once, and must lead to one repository.
func TestRepositoryNames(t *testing.T) {
	t.Parallel()
	twice := []*svcv2.SourceRepository{
		{Id: "repo_1", HtmlUrl: "https://github.com/acme/shop"},
		{Id: "repo_2", HtmlUrl: "https://git.corp/acme/shop"},
	}
	for _, tc := range []struct {
		list []*svcv2.SourceRepository
		want []string
	}{
		{nil, []string{"acme/shop", "svc repos"}},
		{twice, []string{"2 repositories acme/shop", "repo_1 (https://github.com/acme/shop) or repo_2 (https://git.corp/acme/shop)"}},
	} {
		s := consoletest.New(t, func(method string, _ proto.Message) (proto.Message, error) {
			if method == "ListSourceRepositories" {
				return &svcv2.ListSourceRepositoriesResponse{Object: "list", Data: tc.list}, nil
			}
			t.Errorf("%s is called", method)
			return nil, nil
		})
		for _, path := range []string{"source search", "source read"} {
			_, _, err := run(t.Context(), t, s, path, console.Query{Arguments: []string{"acme/shop", "x"}},
				console.Output{Format: console.FormatTable})
			var bad *console.UsageError
			for _, want := range tc.want {
				if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want a usage error with %q", path, err, want)
				}
			}
		}
	}
}

// TestSourceFiles: what the file argument asks for, and contents that are no text.
func TestSourceFiles(t *testing.T) {
	t.Parallel()
	for argument, want := range map[string]string{
		"a.go":         `{"id":"repo_1","path":"a.go"}`,
		"a.go:7":       `{"id":"repo_1","path":"a.go","start_line":7}`,
		"a.go:7-9":     `{"end_line":9,"id":"repo_1","path":"a.go","start_line":7}`,
		"a:b.go":       `{"id":"repo_1","path":"a:b.go"}`,
		"a.go:x":       `{"id":"repo_1","path":"a.go:x"}`,
		"a.go:7-":      `{"id":"repo_1","path":"a.go:7-"}`,
		"C:1/a.go:2-3": `{"end_line":3,"id":"repo_1","path":"C:1/a.go","start_line":2}`,
	} {
		s := consoletest.New(t, func(string, proto.Message) (proto.Message, error) {
			return &svcv2.SourceFile{Object: "source_file", Path: "logo.png", Kind: "lfs_pointer"}, nil
		})
		stdout, stderr, err := run(t.Context(), t, s, "source read", console.Query{Arguments: []string{"repo_1", argument}},
			console.Output{Format: console.FormatTable})
		if err != nil || stdout != "" || !strings.Contains(stderr, "not a text but an LFS pointer") {
			t.Errorf("%s: %v %q %q", argument, err, stdout, stderr)
		}
		if got := s.Requests(); len(got) != 1 || got[0] != "ReadSourceFile "+want {
			t.Errorf("%s asks %q, want %s", argument, got, want)
		}
	}
	s := consoletest.New(t, nil)
	_, _, err := run(t.Context(), t, s, "source search", console.Query{
		Arguments: []string{"repo_1", "x"},
		Options:   console.Options{Limit: 21},
	}, console.Output{})
	var bad *console.UsageError
	if !errors.As(err, &bad) || len(s.Requests()) != 0 {
		t.Errorf("--limit 21: %v", err)
	}
}
