package cli

import (
	"bytes"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/cockroachdb/errors"
	"go.yaml.in/yaml/v3"
)

// MaxConfigBytes bounds a configuration file.
const MaxConfigBytes = 1 << 20

// configFlag is on every command of a program that takes a configuration file.
type configFlag struct {
	Config string `name:"config" placeholder:"FILE" help:"Configuration file (YAML). Its members are named as the flags of the daemon; the environment and the command line override it."`
}

// Config is a configuration file that was read: flags by name, each with its
// place. Without a file it is empty. Commands get it bound.
type Config struct {
	file   string
	values map[string]*yaml.Node
	names  []*yaml.Node // in the file's order
}

// configFile is the file that the command line or the environment names, or "".
// It is looked for before the command line is parsed, because what the parser
// resolves comes from it.
func configFile(args []string) (string, error) {
	file := os.Getenv("LEDGERD_CONFIG")
	for i, arg := range args {
		switch {
		case arg == "--":
			return file, nil
		case arg == "--config" && i+1 == len(args):
			return "", Usagef("--config: a file is missing behind it")
		case arg == "--config":
			file = args[i+1]
		case strings.HasPrefix(arg, "--config="):
			file = strings.TrimPrefix(arg, "--config=")
		}
	}
	return file, nil
}

// readConfig reads a configuration file: one YAML mapping of flags to plain
// values. No file is an empty one. Errors are of usage and name the place.
func readConfig(file string) (*Config, error) {
	c := &Config{file: file, values: map[string]*yaml.Node{}}
	if file == "" {
		return c, nil
	}
	content, err := readBounded(file)
	if err != nil {
		return nil, errors.WithHint(errors.Mark(errors.Wrap(err, "read the configuration"), ErrUsage),
			"Check --config and LEDGERD_CONFIG; `ledgerd config print` prints a whole file to start from.")
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var document yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return c, nil // nothing but comments
	} else if err != nil {
		return nil, errors.Mark(errors.Wrapf(err, "%s is not YAML", file), ErrUsage)
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, Usagef("%s holds more than one YAML document", file)
	}
	return c, c.read(document.Content[0])
}

func readBounded(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, MaxConfigBytes+1))
	if err == nil && len(content) > MaxConfigBytes {
		err = errors.Newf("%s is larger than %d bytes", file, MaxConfigBytes)
	}
	return content, err
}

// read takes the members of the file's mapping.
func (c *Config) read(mapping *yaml.Node) error {
	if mapping.Kind != yaml.MappingNode {
		return c.wrong(mapping, "a mapping of flags to values is expected, like `listen: 127.0.0.1:8080`")
	}
	for i := 0; i < len(mapping.Content); i += 2 {
		name, value := mapping.Content[i], mapping.Content[i+1]
		switch {
		case c.values[name.Value] != nil:
			return c.wrong(name, "%q stands there twice", name.Value)
		case value.Kind != yaml.ScalarNode:
			return c.wrong(value, "%q takes one plain value", name.Value)
		case value.Tag == "!!null":
			return c.wrong(name, "%q has no value; remove the line, or write \"\" for an empty one", name.Value)
		}
		c.values[name.Value] = value
		c.names = append(c.names, name)
	}
	return nil
}

// wrong is an error about a place of the file.
func (c *Config) wrong(at *yaml.Node, format string, args ...any) error {
	return errors.Wrapf(Usagef(format, args...), "%s:%d:%d", c.file, at.Line, at.Column)
}

// known checks that each member is a flag of the command whose flags the file
// may hold, with a value that the flag takes.
func (c *Config) known(flags []*kong.Flag) error {
	names := make([]string, 0, len(flags))
	byName := map[string]*kong.Flag{}
	for _, flag := range flags {
		if configurable(flag) {
			byName[flag.Name] = flag
			names = append(names, flag.Name)
		}
	}
	slices.Sort(names)
	for _, name := range c.names {
		flag, ok := byName[name.Value]
		if !ok {
			return errors.WithHintf(c.wrong(name, "%q is no member of this file", name.Value),
				"It may hold: %s.", strings.Join(names, ", "))
		}
		if err := c.fits(flag, c.values[name.Value]); err != nil {
			return err
		}
	}
	return nil
}

// configurable: what says how to run belongs into the file, what asks for
// something else to be done does not.
func configurable(flag *kong.Flag) bool {
	return flag.Name != "help" && flag.Name != "version" && flag.Name != "config" && !flag.Hidden
}

// fits tries a value on a flag, so that an error can name the place.
func (c *Config) fits(flag *kong.Flag, value *yaml.Node) error {
	tried := *flag.Value // Parse notes that the flag is set
	target := reflect.New(flag.Target.Type()).Elem()
	if err := tried.Parse(kong.Scan().PushTyped(value.Value, kong.FlagValueToken), target); err != nil {
		return c.wrong(value, "%v", err)
	}
	if flag.Enum != "" && !flag.EnumMap()[value.Value] {
		return c.wrong(value, "--%s must be one of %s", flag.Name, strings.Join(flag.EnumSlice(), ", "))
	}
	return nil
}

// Validate implements kong.Resolver. Everything is checked when the file is read.
func (c *Config) Validate(*kong.Application) error { return nil }

// Resolve implements kong.Resolver: it gives the file's value for a flag that
// neither the command line nor the environment gives.
func (c *Config) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	value, ok := c.values[flag.Name]
	if _, set := environment(flag); !ok || set || !configurable(flag) {
		return nil, nil
	}
	return value.Value, nil
}

// environment is the variable that gives a flag its value, if one does.
func environment(flag *kong.Flag) (string, bool) {
	for _, name := range flag.Envs {
		if _, ok := os.LookupEnv(name); ok {
			return name, true
		}
	}
	return "", false
}
