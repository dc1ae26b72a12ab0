package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/warehouse/chdb"
)

// The linker sets these variables (Makefile). A plain `go build` takes them from its build info.
var (
	version string
	commit  string
)

type buildVersion struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Chdb     string `json:"chdb"`
}

func readVersion() buildVersion {
	v := buildVersion{
		Version:  version,
		Commit:   commit,
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Chdb:     chdb.Version,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				if v.Commit == "" {
					v.Commit = s.Value
				}
			case "vcs.modified":
				v.Modified = s.Value == "true"
			}
		}
		if v.Version == "" && info.Main.Version != "(devel)" {
			v.Version = info.Main.Version
		}
	}
	if v.Version == "" {
		v.Version = "dev"
	}
	return v
}

func (c *cli) version() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  svc version --json",
		Args:    args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			v := readVersion()
			if asJSON {
				return c.printJSON(v)
			}
			_, err := fmt.Fprintf(c.stdout, "svc %s %s %s, libchdb %s\n", v.Version, v.Go, v.Platform, v.Chdb)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// printJSON prints a value as JSON. It prints one or more messages as the API shows them.
func (c *cli) printJSON(value any) (err error) {
	switch v := value.(type) {
	case proto.Message:
		if value, err = messageJSON(v); err != nil {
			return err
		}
	case []proto.Message:
		all := make([]json.RawMessage, len(v))
		for i, m := range v {
			if all[i], err = messageJSON(m); err != nil {
				return err
			}
		}
		value = all
	}
	e := json.NewEncoder(c.stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(value)
}
