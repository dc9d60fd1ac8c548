package webtree

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/klauspost/compress/gzhttp"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web"
	"github.com/ledgerd/ledgerd/internal/tree"
)

const (
	// immutable lets every cache keep an answer for a year, which is "for good"
	// to them. It is not public: behind a token only the asker's own may.
	immutable = "max-age=31536000, immutable"
	// noCache is the checkpoint's.
	noCache = "no-cache"

	tileType = "application/octet-stream"
)

// handleTiles adds what C2SP's tlog-tiles describes.
func (s *server) handleTiles(routes *web.Routes) error {
	// Records compress well; hashes do not.
	compress, err := gzhttp.NewWrapper(gzhttp.ContentTypes([]string{tileType}))
	if err != nil {
		return errors.Wrap(err, "tree: compress entry bundles")
	}
	routes.Handle("GET /checkpoint", http.HandlerFunc(s.checkpoint))
	routes.Handle("GET /tile/{path...}", http.HandlerFunc(s.tile))
	routes.Handle("GET /tile/entries/{path...}", compress(http.HandlerFunc(s.entries)))
	return nil
}

func (s *server) checkpoint(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readTimeout)
	defer cancel()
	head, err := s.Tree.Head(ctx)
	if err != nil {
		s.explain(ctx, err).writeTo(w)
		return
	}
	serve(w, r, "text/plain; charset=utf-8", noCache, []byte(head.Note))
}

func (s *server) tile(w http.ResponseWriter, r *http.Request) {
	s.serveTile(w, r, r.PathValue("path"), func(ctx context.Context, t tlog.Tile) ([]byte, error) {
		return s.Tree.Tile(ctx, tree.TileID{Level: t.L, N: t.N}, t.W)
	})
}

func (s *server) entries(w http.ResponseWriter, r *http.Request) {
	// C2SP calls entries what the library calls data.
	s.serveTile(w, r, "data/"+r.PathValue("path"), func(ctx context.Context, t tlog.Tile) ([]byte, error) {
		select {
		case s.bundles <- struct{}{}:
			defer func() { <-s.bundles }()
		case <-ctx.Done():
			return nil, away(problemBusy, "too many entry bundles are being read already")
		}
		return s.Tree.Bundle(ctx, t.N, t.W)
	})
}

// serveTile reads a tile's path without its height, which is the library's
// alone: <L>/<N>[.p/<W>].
func (s *server) serveTile(w http.ResponseWriter, r *http.Request, path string, read func(context.Context, tlog.Tile) ([]byte, error)) {
	ctx, cancel := context.WithTimeout(r.Context(), readTimeout)
	defer cancel()
	tile, err := tlog.ParseTilePath("tile/8/" + path)
	if err != nil || (tile.L < 0) != strings.HasPrefix(r.URL.Path, "/tile/entries/") {
		refuse(http.StatusNotFound, problemNotFound, "this is no tile's path", "tiles are at /tile/<level>/<index>[.p/<width>], as C2SP tlog-tiles has it").writeTo(w)
		return
	}
	data, err := read(ctx, tile)
	if err != nil {
		s.explain(ctx, err).writeTo(w)
		return
	}
	serve(w, r, tileType, immutable, data)
}

// serve sends bytes, or the part that was asked for.
func serve(w http.ResponseWriter, r *http.Request, contentType, cache string, data []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", cache)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}
