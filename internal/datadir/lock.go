package datadir

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/gofrs/flock"
)

const (
	lockName   = "lock"
	holderName = "holder.json"

	// lockPatience is how long to try for the lock: a client that looks whether
	// a daemon runs shares it for an instant, which must not look like a holder.
	lockPatience = 250 * time.Millisecond
	lockRetry    = 10 * time.Millisecond
)

// holder says who holds a directory.
type holder struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Started time.Time `json:"started_at"`
}

// heldLock is the lock, while held.
type heldLock struct {
	mu   sync.Mutex
	file *flock.Flock // nil after release
	dir  string
}

// takeLock locks dir and says who has it.
func takeLock(dir string) (*heldLock, error) {
	ctx, cancel := context.WithTimeout(context.Background(), lockPatience)
	defer cancel()
	file := flock.New(filepath.Join(dir, lockName), flock.SetPermissions(fileMode))
	locked, err := file.TryLockContext(ctx, lockRetry)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, unusable(err, "lock the data directory")
	}
	if !locked {
		return nil, errors.WithHint(errors.Wrapf(ErrHeld, "%s: %s", dir, describeHolder(dir)),
			"Stop that process or use another --data-dir. Commands that only ask, like `ledgerd query` and `ingest`, reach a running daemon by the same --data-dir.")
	}
	lock := &heldLock{file: file, dir: dir}
	// Until this is written the next one is told of the holder before us.
	if err := lock.sayWho(); err != nil {
		return nil, errors.CombineErrors(err, lock.release())
	}
	return lock, nil
}

func (l *heldLock) sayWho() error {
	host, err := os.Hostname()
	if err != nil {
		return unusable(err, "name this machine")
	}
	return writeJSON(filepath.Join(l.dir, holderName), holder{
		PID: os.Getpid(), Host: host, Started: time.Now().UTC().Truncate(time.Second),
	})
}

func (l *heldLock) held() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file != nil
}

// release gives the lock back. The lock file stays: removing it would let two
// processes hold different files of the same name.
func (l *heldLock) release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	file := l.file
	l.file = nil
	err := removeFile(filepath.Join(l.dir, holderName))
	if unlockErr := file.Unlock(); unlockErr != nil {
		err = errors.CombineErrors(err, unusable(unlockErr, "unlock the data directory"))
	}
	return err
}

// describeHolder tells what is known of the process that holds dir.
func describeHolder(dir string) string {
	var who holder
	if err := readJSON(filepath.Join(dir, holderName), &who); err != nil {
		return "a process that has not said who it is"
	}
	text := fmt.Sprintf("process %d on %s since %s", who.PID, who.Host, who.Started.Format(time.RFC3339))
	var at Connection
	if err := readJSON(filepath.Join(dir, connectionName), &at); err == nil && at.PID == who.PID {
		text += fmt.Sprintf(", listening at %s and %s", at.NATSURL, at.HTTPURL)
	}
	return text
}

// isHeld tells whether any process holds dir, without taking hold of it.
func isHeld(dir string) (bool, error) {
	path := filepath.Join(dir, lockName)
	// A directory that nobody ever held gets no lock file from being asked.
	if _, err := os.Stat(path); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return false, nil
		}
		return false, unusable(err, "look at the lock")
	}
	file := flock.New(path, flock.SetPermissions(fileMode))
	free, err := file.TryRLock()
	if err != nil {
		return false, unusable(err, "look at the lock")
	}
	if free {
		if err := file.Unlock(); err != nil {
			return false, unusable(err, "look at the lock")
		}
	}
	return !free, nil
}
