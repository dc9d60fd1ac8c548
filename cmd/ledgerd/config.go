package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kong"
	"github.com/cockroachdb/errors"
	"go.yaml.in/yaml/v3"

	"github.com/ledgerd/ledgerd/internal/cli"
)

type configCommands struct {
	Print configPrint `cmd:"" help:"Print what the daemon would run with, and where each value comes from."`
}

// configPrint takes the daemon's flags, so that it shows what they would do.
type configPrint struct {
	serveCommand `embed:""`
}

// Help is shown below the command's flags.
func (configPrint) Help() string {
	return `Give it the flags, the environment and the --config of the daemon. It prints a configuration file: each value is followed by where it comes from. Passwords are hidden.

The command line overrides the environment, the environment overrides the file, the file overrides the defaults.`
}

// Run prints the settings as a configuration file.
func (configPrint) Run(parsed *kong.Context, file *cli.Config, streams cli.Streams) error {
	out := tabwriter.NewWriter(streams.Out, 0, 0, 2, ' ', 0)
	for _, setting := range cli.Settings(parsed, file) {
		value, err := yaml.Marshal(setting.Value)
		if err != nil {
			return errors.Wrapf(err, "print --%s", setting.Name)
		}
		fmt.Fprintf(out, "%s: %s\t# %s\n", setting.Name, strings.TrimSpace(string(value)), setting.From)
	}
	return errors.Wrap(out.Flush(), "print the settings")
}
