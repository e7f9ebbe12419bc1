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

// MediaReader returns the recordings and pictures of memories.
type MediaReader interface {
	resolver
	// Media returns the recording or picture of a resource. If it is on another
	// device, Media first downloads it. Errors: memory.ErrNotFound if the
	// memory has none or nobody has it any more; ErrRelay if it can't be
	// downloaded now. The caller closes it.
	Media(ctx context.Context, id memory.ID) (Media, error)
	// Fetch downloads the photo or recording of one memory to this device. If
	// it is here already, Fetch does nothing. Errors: memory.ErrNotFound if
	// nobody has sent it, ErrUnsupported without a relay.
	Fetch(ctx context.Context, id memory.ID) (Fetched, error)
}

// Media is a recording or a picture, as it was received.
type Media struct {
	Body io.ReadCloser
	Type string // media type; empty: unknown
	Size int64  // bytes
}

// Fetched is a photo or a recording that is on this device.
type Fetched struct {
	ID   memory.ID `json:"id"`
	Blob memory.ID `json:"blob"`
	Size int64     `json:"size"`          // bytes
	New  bool      `json:"new,omitempty"` // it was downloaded for this request
}

type mediaOf struct {
	ID string `path:"id"`
}

var mediaTopic = topic[MediaReader]{getMedia.untyped, fetchBlob.untyped}

var (
	getMedia = rawRoute[MediaReader, mediaOf, Media](RightRead, spec{
		method: "GET", path: "/v1/memories/{id}/media", id: "media", body: -1,
		summary: "Get the recording or picture behind a memory",
		about:   "This is the original file from which a resource was made. If it is on another device, it is first fetched and then kept here. An answer shorter than Content-Length is incomplete.",
		gives:   "The file's bytes, with its media type",
	}, []Format{schema("application/octet-stream", "type", "string", "format", "binary")}, writeMedia)

	fetchBlob = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/memories/{id}/fetch", id: "fetchBlob",
		summary: "Fetch a photo or recording that another device has sent", gives: "The photo or recording, now on this device",
	}, byID(MediaReader.Fetch))
)

func writeMedia(w http.ResponseWriter, r *http.Request, s MediaReader, in mediaOf) error {
	id, err := s.Resolve(r.Context(), in.ID)
	if err != nil {
		return err
	}
	m, err := s.Media(r.Context(), id)
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
	w.Header().Set("Content-Disposition", "attachment") // otherwise a browser would show it as a page of this node
	w.WriteHeader(http.StatusOK)
	if _, err := io.CopyN(w, m.Body, m.Size); err != nil {
		panic(http.ErrAbortHandler) // only the length tells the client that an answer is truncated
	}
	return nil
}

// Media writes the recording or picture of a resource, and returns its type and
// size. After an error, what was written is incomplete.
func (c *Client) Media(ctx context.Context, id string, to io.Writer) (kind string, size int64, err error) {
	res, err := send(ctx, c, getMedia, mediaOf{id}, "application/octet-stream", nil)
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

// Fetch downloads a memory's photo or recording to the node.
func (c *Client) Fetch(ctx context.Context, id string) (Fetched, error) {
	return call(ctx, c, fetchBlob, named{id})
}
