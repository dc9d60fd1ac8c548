package simci

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"io"
	"path"
	"strings"
	"sync"

	"github.com/ledgerd/ledgerd/internal/archive"
)

// pack makes the zip file that a job uploads. Uploaders strip the folders that
// all files have in common, so names begin below the results prefix.
func (ci *CI) pack(index int32) []byte {
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	w.RegisterCompressor(zip.Deflate, compressor)
	written := map[string]bool{}
	for cell := range ci.artifacts[index].slots {
		at := place{artifact: index, cell: int32(cell)}
		e := ci.execution(at, ci.measurementAt(at))
		for _, d := range []archive.Document{e.Result, e.Host, e.Definition} {
			if name := strings.TrimPrefix(d.Path, path.Clean(ci.policy.ResultsPrefix)+"/"); !written[name] {
				written[name] = true
				ci.add(w, name, d.Raw)
			}
		}
	}
	folder := ci.measurementAt(place{artifact: index}).layout().folder
	ci.add(w, path.Join(folder, "job.log"), []byte("measured, uploaded\n"))
	if err := w.Close(); err != nil {
		panic("simci: pack an artifact: " + err.Error()) // a buffer takes everything
	}
	return packed.Bytes()
}

func (ci *CI) add(w *zip.Writer, name string, raw []byte) {
	header := &zip.FileHeader{Name: name, Method: zip.Deflate}
	if ci.config.Stored {
		header.Method = zip.Store
	}
	header.SetMode(0o644)
	entry, err := w.CreateHeader(header)
	if err == nil {
		_, err = entry.Write(raw)
	}
	if err != nil {
		panic("simci: pack an artifact: " + err.Error()) // a buffer takes everything
	}
}

// archiveSHA256 is the digest of an artifact's zip file.
func (ci *CI) archiveSHA256(index int32) string {
	if known := ci.digests[index].Load(); known != nil {
		return *known
	}
	digest := digestOf(ci.pack(index))
	ci.digests[index].Store(&digest)
	return digest
}

// compressors are kept: to make one costs more than to pack a document.
var compressors = sync.Pool{New: func() any {
	w, err := flate.NewWriter(io.Discard, flate.BestSpeed)
	if err != nil {
		panic("simci: " + err.Error()) // the level is one
	}
	return w
}}

func compressor(to io.Writer) (io.WriteCloser, error) {
	w := compressors.Get().(*flate.Writer)
	w.Reset(to)
	return &pooledCompressor{w}, nil
}

type pooledCompressor struct{ *flate.Writer }

func (p *pooledCompressor) Close() error {
	err := p.Writer.Close()
	compressors.Put(p.Writer)
	return err
}
