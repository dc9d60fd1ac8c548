package storefile

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/cockroachdb/errors"
	natsjs "github.com/nats-io/nats.go/jetstream"
)

const (
	metaName      = "meta.inf"
	metaSumName   = "meta.sum"
	metaKeyName   = "meta.key"
	messagesName  = "msgs"
	indexName     = "index.db"
	blockSuffix   = ".blk"
	indexMagic    = 11
	indexVersions = 4 // the latest one; what is read here is the same in all
)

// Errors of a stream's directory.
var (
	// ErrNoStream: there is no such stream.
	ErrNoStream = errors.New("storefile: no stream there")
	// ErrUnknownForm: the files are written in a way that is not read here.
	ErrUnknownForm = errors.New("storefile: the files are in another form")
	// errDamaged: a file is not what its hash says.
	errDamaged = errors.New("storefile: the file was changed or cut off")
)

// readMeta reads the stream's configuration.
func readMeta(dir, name string) (*natsjs.StreamConfig, error) {
	raw, err := os.ReadFile(filepath.Join(dir, metaName))
	if err != nil {
		return nil, errors.Wrap(errDamaged, err.Error())
	}
	sum, err := os.ReadFile(filepath.Join(dir, metaSumName))
	if err != nil {
		return nil, errors.Wrap(errDamaged, err.Error())
	}
	hash := hasher(name)
	_, _ = hash.Write(raw) // never fails
	if string(sum) != hex.EncodeToString(hash.Sum(nil)) {
		return nil, errors.Wrapf(errDamaged, "%s does not have the hash in %s", metaName, metaSumName)
	}
	config := &natsjs.StreamConfig{}
	if err := json.Unmarshal(raw, config); err != nil {
		return nil, errors.Wrapf(errDamaged, "%s: %v", metaName, err)
	}
	if config.Compression != natsjs.NoCompression {
		return nil, errors.WithHint(errors.Wrapf(ErrUnknownForm, "%s is compressed", dir),
			"start ledgerd on it and run the command beside it: the server reads what it wrote")
	}
	return config, nil
}

// index is what index.db says of the stream.
type index struct {
	messages, first, last uint64
}

// readIndex reads the summary; nil when there is none.
func readIndex(dir, name string) (*index, error) {
	raw, err := os.ReadFile(filepath.Join(dir, messagesName, indexName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, errors.Wrap(errDamaged, err.Error())
	}
	body := len(raw) - hashBytes
	if body < 2 {
		return nil, errors.Wrapf(errDamaged, "%d bytes", len(raw))
	}
	hash := hasher(name)
	_, _ = hash.Write(raw[:body]) // never fails
	if string(hash.Sum(nil)) != string(raw[body:]) {
		return nil, errors.Wrap(errDamaged, "its hash does not match")
	}
	if raw[0] != indexMagic || raw[1] == 0 || raw[1] > indexVersions {
		return nil, errors.Wrapf(ErrUnknownForm, "%s has version %d", indexName, raw[1])
	}
	r := varints{rest: raw[2:body]}
	messages, _, first := r.unsigned(), r.unsigned(), r.unsigned()
	r.signed()
	last := r.unsigned()
	if r.short {
		return nil, errors.Wrap(errDamaged, "it ends early")
	}
	return &index{messages: messages, first: first, last: last}, nil
}

// varints reads one number after the other; short stays set once one was
// missing.
type varints struct {
	rest  []byte
	short bool
}

func (v *varints) unsigned() uint64 {
	n, size := binary.Uvarint(v.rest)
	v.skip(size)
	return n
}

func (v *varints) signed() int64 {
	n, size := binary.Varint(v.rest)
	v.skip(size)
	return n
}

func (v *varints) skip(size int) {
	if size <= 0 {
		v.short, size = true, 0
	}
	v.rest = v.rest[size:]
}
