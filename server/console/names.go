package console

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
)

// Kinds of names that a shell can complete. A server knows them.
const (
	NamesServices     = "services"
	NamesEnvironments = "environments"
	NamesTables       = "tables"
	NamesTools        = "tools"
)

// harmless are names that mean themselves in every shell. Names come from senders of telemetry, and a shell may run a name such as
// $(reboot) when a person completes and enters it. So others are not offered.
var harmless = regexp.MustCompile(`^[\pL\pN_][\pL\pN_.:/@+%-]{0,127}$`)

// Names are the names of one kind on the server, in order.
func (c *Client) Names(ctx context.Context, kind string) ([]string, error) {
	var list []string
	switch kind {
	case NamesServices, NamesEnvironments:
		services, err := c.namedServices(ctx)
		if err != nil {
			return nil, err
		}
		for _, s := range services {
			if kind == NamesServices {
				list = append(list, s.GetName())
			} else {
				list = append(list, s.GetDeploymentEnvironments()...)
			}
		}
	case NamesTables:
		res, err := c.sql.ListSqlTables(ctx, &svcv2.ListSqlTablesRequest{})
		if err != nil {
			return nil, c.failure(err)
		}
		for _, t := range res.GetData() {
			list = append(list, t.GetName())
		}
	case NamesTools:
		tools, err := (&Query{client: c}).tools(ctx)
		if err != nil {
			return nil, err
		}
		for _, t := range tools {
			list = append(list, t.Name)
		}
	default:
		return nil, fmt.Errorf("there are no names of %s", kind)
	}
	list = slices.DeleteFunc(list, func(name string) bool { return !harmless.MatchString(name) })
	slices.Sort(list)
	return slices.Compact(list), nil
}

// namedServices are the services of the last day.
func (c *Client) namedServices(ctx context.Context) ([]*svcv2.Service, error) {
	now := time.Now()
	q := &Query{client: c, Options: Options{Limit: limits.CompletedNames}}
	res, err := collect(q, func(limit int32, cursor *string) (*svcv2.ListServicesResponse, error) {
		return c.services.ListServices(ctx, &svcv2.ListServicesRequest{
			StartTime: timestamppb.New(now.Add(-limits.Day)), EndTime: timestamppb.New(now), Limit: &limit, Cursor: cursor,
		})
	}, func(r *svcv2.ListServicesResponse) *[]*svcv2.Service { return &r.Data })
	return res.GetData(), err
}

// Completion returns the kind of names, or the list of values, that an argument can have. Both are empty for a text.
func (c *Command) Completion(argument int) (kind string, values []string) {
	if argument >= len(c.Arguments) {
		return "", nil
	}
	switch strings.Trim(c.Arguments[argument], "[]") {
	case "SERVICE":
		return NamesServices, nil
	case "TABLE":
		return NamesTables, nil
	case "STATE":
		return "", issueStates()
	case "NAME":
		return NamesTools, nil
	}
	return "", nil
}

// CompletedNames are names of one kind for a shell. They are kept in a folder for a minute, because a person presses the key often. An
// empty folder keeps nothing. When the server cannot be asked, the names of before are better than none; a shell has no place for an error.
func CompletedNames(ctx context.Context, target Target, folder, kind string) []string {
	file := namesFile(target, folder, kind)
	kept, age := keptNames(file)
	if kept != nil && age < limits.CompletionKept {
		return kept
	}
	ctx, cancel := context.WithTimeout(ctx, limits.CompletionWait)
	defer cancel()
	list, err := Connect(target).Names(ctx, kind)
	if err != nil {
		return kept
	}
	keepNames(file, list)
	return list
}

// namesFile is where names are kept for one server and credential.
func namesFile(target Target, folder, kind string) string {
	if folder == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{target.URL, target.OrgID, target.Token, kind}, "\x00")))
	return filepath.Join(folder, "names-"+hex.EncodeToString(sum[:12])+".json")
}

func keptNames(file string) (list []string, age time.Duration) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, 0
	}
	text, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(text, &list) != nil {
		return nil, 0
	}
	return list, time.Since(info.ModTime()).Abs()
}

// keepNames writes names, all or nothing, and removes those of yesterday. A failure only makes the next completion slower.
func keepNames(file string, list []string) {
	text, err := json.Marshal(append([]string{}, list...))
	if file == "" || err != nil || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	old, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "names-*"))
	for _, path := range old {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > limits.Day {
			_ = os.Remove(path)
		}
	}
	f, err := os.CreateTemp(filepath.Dir(file), "names-*") // mode 0600
	if err != nil {
		return
	}
	_, err = f.Write(text)
	if closed := f.Close(); err != nil || closed != nil || os.Rename(f.Name(), file) != nil {
		_ = os.Remove(f.Name())
	}
}
