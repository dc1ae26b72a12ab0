package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

func (c *cli) config() *cobra.Command {
	cmd := group("config", "Show the configuration")
	cmd.AddCommand(c.configPrint())
	return cmd
}

func (c *cli) configPrint() *cobra.Command {
	var effective, asJSON bool
	cmd := &cobra.Command{
		Use:   "print",
		Short: "Print the settings in force and their sources",
		Long: `Print the settings in force and their sources, as a configuration file. Secrets read ***.

Without --effective, svc prints only the settings that differ from their defaults.`,
		Example: `  svc config print --effective
  svc config print --effective > svc.yaml     # a file to start from`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.load(cmd)
			if err != nil {
				return err
			}
			entries := cfg.Entries()
			if !effective {
				entries = cfg.Changed()
			}
			if asJSON {
				return c.printJSON(entries)
			}
			for _, e := range entries {
				value, err := yaml.Marshal(map[string]string{e.Name: e.Value})
				if err != nil {
					return fmt.Errorf("print %s: %w", e.Name, err)
				}
				if _, err := fmt.Fprintf(c.stdout, "# %s (%s)\n%s", e.Key.Help, e.Source, value); err != nil {
					return err
				}
			}
			return nil
		},
	}
	settings(cmd)
	cmd.Flags().BoolVar(&effective, "effective", false, "print the defaults too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
