package serve

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"

	"github.com/locket-dev/locket/memory"
)

// MediaReader gives the recordings and pictures behind memories.
type MediaReader interface {
	// Media gives what a resource was made of, which is fetched first where it
	// lies on another device: memory.ErrNotFound where the memory has none, or
	// nobody has it any more; ErrRelay where it can't be fetched now. The caller
	// closes it.
	Media(ctx context.Context, id memory.ID) (Media, error)
}

// Media is a recording or a picture, as it was taken in.
type Media struct {
	Body io.ReadCloser
	Type string // of media; empty: not known
	Size int64  // bytes
}

func (h *handler) media(w http.ResponseWriter, r *http.Request) error {
	id, err := h.Service.Resolve(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	m, err := h.Service.Media(r.Context(), id)
	if err != nil {
		return err
	}
	defer m.Body.Close()
	kind := "application/octet-stream"
	if t, _, err := mime.ParseMediaType(m.Type); err == nil {
		kind = t
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.FormatInt(m.Size, 10))
	w.Header().Set("Content-Disposition", "attachment") // no page of a browser shows it as one of this node's
	w.WriteHeader(http.StatusOK)
	if _, err := io.CopyN(w, m.Body, m.Size); err != nil {
		panic(http.ErrAbortHandler) // an answer that is cut off is told by its length alone
	}
	return nil
}

// Media writes what a resource was made of, and gives its type and size. What
// was written before an error is no whole.
func (c *Client) Media(ctx context.Context, id string, to io.Writer) (kind string, size int64, err error) {
	res, err := c.send(ctx, http.MethodGet, memoryPath(id, "/media"), nil, "application/octet-stream", nil)
	if err != nil {
		return "", 0, err
	}
	defer res.Body.Close()
	want, err := strconv.ParseInt(res.Header.Get("Content-Length"), 10, 64)
	if err != nil {
		return "", 0, fmt.Errorf("reading the node's answer: it has no length")
	}
	size, err = io.Copy(to, res.Body)
	if err == nil && size != want {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return "", size, fmt.Errorf("reading the node's answer: %d of %d bytes: %w", size, want, err)
	}
	return res.Header.Get("Content-Type"), size, nil
}
