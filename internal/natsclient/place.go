package natsclient

import (
	"path/filepath"
	"strings"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/internal/datadir"
)

// place is where to connect, and as whom.
type place struct {
	url     string
	options []nats.Option

	unreachableHint, unknownHint string
}

func (c Config) resolve() (place, error) {
	switch {
	case c.URL != "":
		return c.resolveURL()
	case c.Creds != "" || c.CA != "":
		return place{}, errors.WithHint(errors.Wrap(ErrConfig, "--nats-creds and --nats-ca without --nats-url"),
			"They belong to a server of its own. A local daemon's credentials are found by --data-dir alone.")
	case c.DataDir == "":
		return place{}, errors.WithHint(errors.Wrap(ErrConfig, "neither --data-dir nor --nats-url"),
			"Say where the ledger is by one of them.")
	}
	return c.resolveDataDir()
}

func (c Config) resolveURL() (place, error) {
	at := place{
		url:             c.URL,
		unreachableHint: "Check --nats-url, and that the server runs and this machine may reach it.",
		unknownHint:     "Give --nats-creds the " + string(c.Role) + "'s file for exactly that server.",
	}
	if c.Creds != "" {
		option, err := readCredentials(c.Creds)
		if err != nil {
			return place{}, err
		}
		c.warnWhenExposed()
		at.options = append(at.options, option)
	}
	if c.CA != "" {
		option, err := readCA(c.CA)
		if err != nil {
			return place{}, err
		}
		at.options = append(at.options, option)
	}
	return at, nil
}

// warnWhenExposed says that others may read the credentials. It is not refused:
// a mounted secret's mode is not always the user's to choose.
func (c Config) warnWhenExposed() {
	if err := datadir.CheckPrivate(c.Creds); errors.Is(err, datadir.ErrExposed) {
		c.Logger.Warn("credentials are open to other users of this machine", "file", c.Creds)
	}
}

func (c Config) resolveDataDir() (place, error) {
	at, err := datadir.ReadConnection(c.DataDir)
	if err != nil {
		return place{}, err
	}
	file, err := seedFile(c.DataDir, at, c.Role)
	if err != nil {
		return place{}, err
	}
	option, err := readCredentials(file)
	if err != nil {
		return place{}, err
	}
	return place{
		url:             at.NATSURL,
		options:         []nats.Option{option},
		unreachableHint: "The daemon holds the directory and does not answer. Look at its log, or restart it.",
		unknownHint:     "The credentials were changed after the daemon started. Restart it: it admits those that are in the directory then.",
	}, nil
}

// seedFile is the role's, which must be its owner's alone.
func seedFile(dir string, at datadir.Connection, role natsdeploy.Role) (string, error) {
	name, ok := at.Credentials[role]
	switch {
	case len(at.Credentials) == 0:
		return "", errors.WithHintf(errors.Wrapf(ErrCredentials, "the daemon of %s uses the server %s, whose credentials it does not make", dir, redact(at.NATSURL)),
			"Use --nats-url %s with --nats-creds, the %s's file for that server.", redact(at.NATSURL), role)
	case !ok:
		return "", errors.WithHint(errors.Wrapf(ErrCredentials, "%s has none for the role %s", dir, role),
			"Only operator, coordinator and reader connect from outside the daemon.")
	case !filepath.IsLocal(name):
		return "", errors.WithHint(errors.Wrapf(ErrCredentials, "%s is not below %s", name, dir),
			"Restart the daemon: it writes connection.json anew.")
	}
	file := filepath.Join(dir, name)
	if err := datadir.CheckPrivate(file); errors.Is(err, datadir.ErrExposed) {
		return "", err
	}
	return file, nil
}

func (p place) redacted() string { return redact(p.url) }

// redact hides the users and passwords of a list of addresses.
func redact(urls string) string {
	list := strings.Split(urls, ",")
	for i, one := range list {
		scheme, rest, found := strings.Cut(one, "://")
		if !found {
			scheme, rest = "", one
		}
		if at := strings.LastIndex(rest, "@"); at >= 0 {
			rest = rest[at+1:]
		}
		list[i] = rest
		if found {
			list[i] = scheme + "://" + rest
		}
	}
	return strings.Join(list, ",")
}
