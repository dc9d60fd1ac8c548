package observer

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// Instance is a runner's instance with a database of its own, set apart below
// a directory for tests. Every path is absolute.
type Instance struct {
	Root   string // what it was set apart under
	Home   string // <root>/paperclip-home
	ID     string // letters, digits, _ and -
	Config string // <home>/instances/<id>/config.json
}

const (
	homeName       = "paperclip-home"
	instancesName  = "instances"
	configName     = "config.json"
	maxConfigBytes = 1 << 20
)

// The database modes of a config, and what an embedded database is reached by.
const (
	modePostgres     = "postgres"
	modeEmbedded     = "embedded"
	modeEmbeddedLong = "embedded-postgres"

	embeddedAccount = "paperclip" // user, password and database
	embeddedHost    = "127.0.0.1"
	maxPort         = 1<<16 - 1
)

var instanceID = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// DatabaseURL checks that the instance is the one set apart, and gives the url
// of its database. Links are followed first, so that none leads out of the
// root unnoticed. Errors: ErrNotIsolated, ErrConfig.
func (i Instance) DatabaseURL() (string, error) {
	root, config, err := i.isolated()
	if err != nil {
		return "", err
	}
	settings, err := readConfig(config)
	if err != nil {
		return "", err
	}
	database := settings.Get("database")
	mode, _ := database.Get("mode").Text()
	switch mode {
	case modePostgres:
		address, _ := database.Get("connectionString").Text()
		if address == "" {
			return "", configError(errors.Wrapf(ErrConfig, "%s: database.connectionString is missing", config))
		}
		return address, nil
	case modeEmbedded, modeEmbeddedLong:
		return embeddedURL(root, config, database)
	}
	return "", configError(errors.Wrapf(ErrConfig, "%s: database.mode is %q", config, mode))
}

// isolated gives the real root and config.
func (i Instance) isolated() (root, config string, err error) {
	for _, path := range []struct{ name, value string }{{"root", i.Root}, {"home", i.Home}, {"config", i.Config}} {
		if !filepath.IsAbs(path.value) {
			return "", "", notIsolated("the %s %q is no absolute path", path.name, path.value)
		}
	}
	if !instanceID.MatchString(i.ID) {
		return "", "", notIsolated("the instance id %q has something other than letters, digits, _ and -", i.ID)
	}
	var home string
	for _, path := range []struct {
		into *string
		of   string
	}{{&root, i.Root}, {&home, i.Home}, {&config, i.Config}} {
		if *path.into, err = filepath.EvalSymlinks(path.of); err != nil {
			return "", "", errors.WithHint(errors.Mark(errors.Wrap(err, ErrNotIsolated.Error()), ErrNotIsolated), "the instance's files must be there before it is observed")
		}
	}
	if want := filepath.Join(root, homeName); home != want {
		return "", "", notIsolated("the home is %s and must be %s", home, want)
	}
	if want := filepath.Join(home, instancesName, i.ID, configName); config != want {
		return "", "", notIsolated("the config is %s and must be %s", config, want)
	}
	return root, config, nil
}

func notIsolated(format string, arguments ...any) error {
	return errors.WithHintf(errors.Wrapf(ErrNotIsolated, format, arguments...),
		"an instance lies in <root>/%s/%s/<id>/%s: only one that was set apart is observed", homeName, instancesName, configName)
}

func readConfig(path string) (strictjson.Value, error) {
	info, err := os.Stat(path)
	if err != nil {
		return strictjson.Value{}, configError(errors.Mark(errors.Wrap(err, ErrConfig.Error()), ErrConfig))
	}
	if info.Size() > maxConfigBytes {
		return strictjson.Value{}, configError(errors.Wrapf(ErrConfig, "%s has %d bytes and may have %d", path, info.Size(), maxConfigBytes))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return strictjson.Value{}, configError(errors.Mark(errors.Wrap(err, ErrConfig.Error()), ErrConfig))
	}
	settings, err := strictjson.Parse(text)
	if err != nil {
		return strictjson.Value{}, configError(errors.Mark(errors.Wrapf(err, "%s: %s", ErrConfig, path), ErrConfig))
	}
	return settings, nil
}

// embeddedURL gives the url of a database that listens on the loopback only
// and, when the config says where its files are, keeps them below the root.
func embeddedURL(root, config string, database strictjson.Value) (string, error) {
	port, ok := database.Get("embeddedPostgresPort").SafeInteger()
	if !ok || port < 1 || port > maxPort {
		return "", configError(errors.Wrapf(ErrConfig, "%s: database.embeddedPostgresPort is no port", config))
	}
	if directory, ok := database.Get("embeddedPostgresDataDir").Text(); ok {
		actual, err := filepath.EvalSymlinks(directory)
		if err != nil {
			return "", errors.WithHint(errors.Mark(errors.Wrapf(err, "%s: the database's files", ErrNotIsolated), ErrNotIsolated), "start the instance first")
		}
		if !strings.HasPrefix(actual, root+string(filepath.Separator)) {
			return "", notIsolated("the database's files are in %s, outside %s", actual, root)
		}
	}
	return (&url.URL{
		Scheme: "postgres", User: url.UserPassword(embeddedAccount, embeddedAccount),
		Host: net.JoinHostPort(embeddedHost, strconv.FormatInt(port, 10)), Path: "/" + embeddedAccount,
	}).String(), nil
}

func configError(err error) error {
	return errors.WithHint(err, fmt.Sprintf("database.mode is %s with a connectionString, or %s with an embeddedPostgresPort", modePostgres, modeEmbeddedLong))
}
