package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/cockroachdb/errors"
)

// Streams are a program's standard streams, so that tests run the real program.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// Program is a binary: its name, a paragraph about it, and its commands, a
// pointer to a struct as kong reads it. Commands have a method
// Run(context.Context, Streams, *slog.Logger) error.
type Program struct {
	Name        string
	Description string
	Commands    any

	// Configured is the command whose flags a configuration file may hold;
	// other commands take from it those of the same name. Empty: the program
	// takes no file.
	Configured string
}

// logFlags are on every command of both binaries.
type logFlags struct {
	Level  slog.Level `name:"log-level" default:"info" help:"Log what is at least this grave: debug, info, warn or error."`
	Format string     `name:"log-format" enum:"text,json" default:"text" help:"How logs are written: text or json."`

	Version kong.VersionFlag `env:"-" help:"Print the version and exit."`
}

func (l logFlags) logger(to io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: l.Level, ReplaceAttr: shortErrors}
	if l.Format == "json" {
		return slog.New(slog.NewJSONHandler(to, options))
	}
	return slog.New(slog.NewTextHandler(to, options))
}

// shortErrors logs an error as its sentence. Written out whole it is pages of
// stack traces.
func shortErrors(_ []string, attr slog.Attr) slog.Attr {
	if err, ok := attr.Value.Any().(error); ok {
		attr.Value = slog.StringValue(err.Error())
	}
	return attr
}

// exitNow carries kong's wish to exit (after --help) out of the parser.
type exitNow int

// Main runs the program with the process's own arguments, streams and signals,
// and gives its exit code. The first SIGINT or SIGTERM ends the context; a
// second one kills the process, as people expect.
func (p Program) Main() int {
	// A reader that went away is an error of the write, not the end of the
	// process before it has cleaned up.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		<-ctx.Done()
		stop() // from here on a signal has its default effect
	}()
	return p.Run(ctx, os.Args[1:], Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}

// Run runs the program with the given arguments and gives its exit code.
func (p Program) Run(ctx context.Context, args []string, streams Streams) (code int) {
	defer func() {
		if wanted := recover(); wanted != nil {
			exit, ok := wanted.(exitNow)
			if !ok {
				panic(wanted)
			}
			code = int(exit)
		}
	}()
	var logs logFlags
	parser, err := p.parser(&logs, streams)
	if err != nil {
		return p.fail(streams, err)
	}
	file, err := p.configure(parser, args)
	if err != nil {
		return p.fail(streams, err)
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return p.usage(streams, args, err)
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	parsed.Bind(streams, logs.logger(streams.Err), file)
	if err := unjoin(parsed.Run()); err != nil {
		return p.fail(streams, err)
	}
	return ExitDone
}

func (p Program) parser(logs *logFlags, streams Streams) (*kong.Kong, error) {
	options := []kong.Option{
		kong.Name(p.Name),
		kong.Description(p.Description),
		kong.DefaultEnvars("LEDGERD"),
		kong.Embed(logs),
		kong.Writers(streams.Out, streams.Err),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Vars{"version": Version()},
		kong.Exit(func(code int) { panic(exitNow(code)) }),
	}
	if p.Configured != "" {
		options = append(options, kong.Embed(&configFlag{}))
	}
	parser, err := kong.New(p.Commands, options...)
	return parser, errors.Wrap(err, "cli: read the command's own definition")
}

// configure reads the configuration file, if one is named, for the parser to
// take what the command line and the environment leave open.
func (p Program) configure(parser *kong.Kong, args []string) (*Config, error) {
	if p.Configured == "" {
		return &Config{}, nil
	}
	file, err := configFile(args)
	if err != nil {
		return nil, err
	}
	read, err := readConfig(file)
	if err != nil {
		return nil, err
	}
	if err := read.known(flagsOf(parser, p.Configured)); err != nil {
		return nil, err
	}
	return read, kong.Resolvers(read).Apply(parser)
}

// flagsOf are a command's own flags and those of every command.
func flagsOf(parser *kong.Kong, command string) []*kong.Flag {
	flags := parser.Model.Flags
	for _, leaf := range parser.Model.Leaves(false) {
		if leaf.Name == command {
			flags = append(slices.Clip(flags), leaf.Flags...)
		}
	}
	return flags
}

// usage prints what is wrong with the command line and where to read on.
func (p Program) usage(streams Streams, args []string, err error) int {
	command := p.Name
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		selected, _, _ := strings.Cut(parse.Context.Command(), " <")
		if first, _, _ := strings.Cut(selected, " "); slices.Contains(args, first) { // not the default command
			command += " " + selected
		}
	}
	fmt.Fprintf(streams.Err, "%s: %v\n  try: %s --help\n", p.Name, err, command)
	return ExitUsage
}

// fail prints an error with its hints: what happened, where, what to do next.
func (p Program) fail(streams Streams, err error) int {
	fmt.Fprintf(streams.Err, "%s: %v\n", p.Name, err)
	for _, hint := range errors.GetAllHints(err) {
		fmt.Fprintf(streams.Err, "  hint: %s\n", strings.ReplaceAll(hint, "\n", "\n        "))
	}
	return ExitCode(err)
}

// unjoin takes an error out of the list of one that the parser puts it in:
// hints are not looked for in lists.
func unjoin(err error) error {
	if list, ok := err.(interface{ Unwrap() []error }); ok && len(list.Unwrap()) == 1 {
		return list.Unwrap()[0]
	}
	return err
}
