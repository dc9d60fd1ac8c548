package cli

import (
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"github.com/alecthomas/kong"
)

// Setting is a flag's value in force and where it comes from.
type Setting struct {
	Name  string
	Value any    // a string, number or bool; of a flag tagged `secret:"url"` without its password
	From  string // "command line", a variable's name, a file's place, or "default"
}

// Settings are the settings that a configuration file may hold, of the command
// that runs, in the order of its help.
func Settings(ctx *kong.Context, file *Config) []Setting {
	given := map[*kong.Value]bool{}
	for _, element := range ctx.Path {
		if element.Flag != nil && !element.Resolved {
			given[element.Flag.Value] = true
		}
	}
	var all []Setting
	for _, flag := range ctx.Flags() {
		if configurable(flag) {
			all = append(all, Setting{Name: flag.Name, Value: shown(flag), From: source(flag, given[flag.Value], file)})
		}
	}
	return all
}

func source(flag *kong.Flag, given bool, file *Config) string {
	if given {
		return "command line"
	}
	if name, ok := environment(flag); ok {
		return name
	}
	if at, ok := file.values[flag.Name]; ok {
		return fmt.Sprintf("%s:%d", file.file, at.Line)
	}
	return "default"
}

// Hidden stands for what is not shown.
const Hidden = "(hidden)"

// shown is a flag's value as it may be shown.
func shown(flag *kong.Flag) any {
	switch value := flag.Target.Interface().(type) {
	case string:
		if flag.Tag.Get("secret") == "url" {
			return WithoutPassword(value)
		}
		return value
	case slog.Level:
		return strings.ToLower(value.String())
	default:
		return value
	}
}

// WithoutPassword is an address of a database or a server as it may be shown:
// a URL without its password, and nothing of what is no URL, because nobody
// can tell where the password is in it.
func WithoutPassword(address string) string {
	if address == "" {
		return ""
	}
	at, err := url.Parse(address)
	if err != nil || at.Scheme == "" || at.Host == "" || strings.Contains(at.Host+at.Path, "@") {
		return Hidden
	}
	query := at.Query()
	for name := range query {
		if strings.Contains(strings.ToLower(name), "password") {
			query.Set(name, "xxxxx")
		}
	}
	at.RawQuery = query.Encode()
	return at.Redacted()
}
