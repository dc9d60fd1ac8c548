package observer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/cmd/ingest/internal/observer"
)

// newInstance sets an instance apart.
func newInstance(t *testing.T, config string) observer.Instance {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(root, "paperclip-home")
	i := observer.Instance{Root: root, Home: home, ID: "run_1-a", Config: filepath.Join(home, "instances", "run_1-a", "config.json")}
	if err := os.MkdirAll(filepath.Join(filepath.Dir(i.Config), "db"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, i.Config, strings.ReplaceAll(config, "HOME", home))
	return i
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDatabaseURL(t *testing.T) {
	const embedded = "postgres://paperclip:paperclip@127.0.0.1:54329/paperclip"
	for _, test := range []struct{ name, config, want string }{
		{"embedded", `{"database": {"mode": "embedded", "embeddedPostgresPort": 54329}}`, embedded},
		{"embedded, with its files", `{"database": {"mode": "embedded-postgres", "embeddedPostgresPort": 54329, "embeddedPostgresDataDir": "HOME/instances/run_1-a/db"}}`, embedded},
		{"postgres", `{"database": {"mode": "postgres", "connectionString": "postgres://db.example/x", "embeddedPostgresPort": 1}, "more": 1}`, "postgres://db.example/x"},
		{"the largest port", `{"database": {"mode": "embedded", "embeddedPostgresPort": 65535}}`, strings.Replace(embedded, "54329", "65535", 1)},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, err := newInstance(t, test.config).DatabaseURL(); err != nil || got != test.want {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}

func TestUnusableConfig(t *testing.T) {
	for _, config := range []string{
		``, `[]`, `{`, `{"database": {"mode": "postgres", "mode": "embedded"}}`, `{"database": {}}`, `{"database": {"mode": "mysql"}}`,
		`{"database": {"mode": "postgres"}}`, `{"database": {"mode": "postgres", "connectionString": ""}}`,
		`{"database": {"mode": "embedded"}}`, `{"database": {"mode": "embedded", "embeddedPostgresPort": 0}}`,
		`{"database": {"mode": "embedded", "embeddedPostgresPort": 65536}}`, `{"database": {"mode": "embedded", "embeddedPostgresPort": "54329"}}`,
		`{"database": {"mode": "embedded", "embeddedPostgresPort": 54329.5}}`, strings.Repeat(" ", 1<<20+1),
	} {
		if got, err := newInstance(t, config).DatabaseURL(); !errors.Is(err, observer.ErrConfig) || got != "" {
			t.Errorf("%.80s: %q, %v", config, got, err)
		}
	}
}

func TestInstanceMustBeIsolated(t *testing.T) {
	const config = `{"database": {"mode": "embedded", "embeddedPostgresPort": 54329}}`
	for name, change := range map[string]func(t *testing.T, i *observer.Instance){
		"no root":         func(_ *testing.T, i *observer.Instance) { i.Root = "" },
		"relative root":   func(_ *testing.T, i *observer.Instance) { i.Root = "." },
		"relative home":   func(_ *testing.T, i *observer.Instance) { i.Home = "paperclip-home" },
		"relative config": func(_ *testing.T, i *observer.Instance) { i.Config = "config.json" },
		"no id":           func(_ *testing.T, i *observer.Instance) { i.ID = "" },
		"id with a dot":   func(_ *testing.T, i *observer.Instance) { i.ID = ".." },
		"id with a slash": func(_ *testing.T, i *observer.Instance) { i.ID = "a/b" },
		"another id":      func(_ *testing.T, i *observer.Instance) { i.ID = "run_2" },
		"another home":    func(_ *testing.T, i *observer.Instance) { i.Home = filepath.Dir(i.Config) },
		"another root":    func(t *testing.T, i *observer.Instance) { i.Root = t.TempDir() },
		"not there":       func(_ *testing.T, i *observer.Instance) { i.Config += "x" },
		"another config": func(t *testing.T, i *observer.Instance) {
			i.Config = filepath.Join(filepath.Dir(i.Config), "other.json")
			write(t, i.Config, config)
		},
		"a config that is a link out": func(t *testing.T, i *observer.Instance) {
			outside := filepath.Join(t.TempDir(), "config.json")
			write(t, outside, config)
			link(t, outside, i.Config)
		},
		"a home that is a link out": func(t *testing.T, i *observer.Instance) {
			outside := newInstance(t, config)
			link(t, outside.Home, i.Home)
		},
		"files outside": func(t *testing.T, i *observer.Instance) {
			write(t, i.Config, `{"database": {"mode": "embedded", "embeddedPostgresPort": 1, "embeddedPostgresDataDir": "`+t.TempDir()+`"}}`)
		},
		"files that are a link out": func(t *testing.T, i *observer.Instance) {
			files := filepath.Join(filepath.Dir(i.Config), "db")
			link(t, t.TempDir(), files)
			write(t, i.Config, `{"database": {"mode": "embedded", "embeddedPostgresPort": 1, "embeddedPostgresDataDir": "`+files+`"}}`)
		},
		"no files": func(t *testing.T, i *observer.Instance) {
			write(t, i.Config, `{"database": {"mode": "embedded", "embeddedPostgresPort": 1, "embeddedPostgresDataDir": "`+i.Root+`/db"}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := newInstance(t, config)
			change(t, &i)
			if got, err := i.DatabaseURL(); !errors.Is(err, observer.ErrNotIsolated) || got != "" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	// A root that is reached by a link is the same root.
	i := newInstance(t, config)
	alias := filepath.Join(t.TempDir(), "alias")
	if err := os.Symlink(i.Root, alias); err != nil {
		t.Fatal(err)
	}
	i.Root = alias
	if _, err := i.DatabaseURL(); err != nil {
		t.Error(err)
	}
}

// link replaces a path by a link.
func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}
