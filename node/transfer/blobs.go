package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/archive"
)

// blobIn is a blob of which some parts have not arrived yet.
type blobIn struct {
	part archive.Part // the last one that arrived
	data *io.PipeWriter
	done chan blobDone
}

type blobDone struct {
	blob store.Blob
	err  error
}

// part processes one part of a blob. It ignores a blob whose memory is not
// here, or that is here already, and refuses a part that is out of order.
func (in *importing) part(ctx context.Context, r archive.Record) error {
	var p archive.Part
	refuse := func(format string, args ...any) error {
		in.dropBlob()
		in.res.Refused++
		why := fmt.Sprintf("invalid: blob: "+format, args...)
		return in.c.Engine.Commit(ctx, func(tx *store.Tx) error {
			return tx.Quarantine(store.Quarantined{At: time.Now(), Topic: "import", Reason: why})
		})
	}
	if err := json.Unmarshal(r.Data, &p); err != nil {
		return refuse("%v", err)
	}
	if p.Part == 0 {
		in.dropBlob()
		wanted := false
		err := in.c.Engine.View(ctx, func(tx *store.Tx) error {
			m, err := tx.Memory(p.Owner)
			if err == nil && m.State != memory.Erased && m.Fields.Resource != nil && m.Fields.Resource.Blob == p.Name.String() {
				var have *store.BlobReader
				if have, err = tx.OpenBlob(p.Name); err == nil {
					return have.Close()
				}
				wanted = errors.Is(err, memory.ErrNotFound)
			}
			if errors.Is(err, memory.ErrNotFound) {
				err = nil
			}
			return err
		})
		if err != nil {
			return err
		}
		if !wanted {
			in.res.Skipped++
			return nil
		}
		in.blob = in.begin(ctx, p.Name)
	} else if in.blob == nil {
		return nil // a later part of a blob that is ignored
	} else if b := in.blob.part; b.Name != p.Name || b.Part+1 != p.Part || b.Last {
		in.dropBlob()
		return refuse("part %d of %s follows part %d of %s", p.Part, p.Name, b.Part, b.Name)
	}
	in.blob.part = p
	if _, err := in.blob.data.Write(p.Data); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	if !p.Last {
		return nil
	}
	in.blob.data.Close()
	d := <-in.blob.done
	in.blob = nil
	if d.err != nil {
		return d.err
	}
	in.res.Taken++
	return in.c.Engine.Commit(ctx, func(tx *store.Tx) error { return tx.KeepBlob(d.blob, p.Owner) })
}

// dropBlob drops a blob whose remaining parts will not come.
func (in *importing) dropBlob() {
	if in.blob != nil {
		in.blob.data.CloseWithError(errUnread)
		<-in.blob.done // it ends with that error
		in.blob = nil
	}
}

func (in *importing) begin(ctx context.Context, name memory.ID) *blobIn {
	r, w := io.Pipe()
	b := &blobIn{data: w, done: make(chan blobDone, 1)}
	go func() {
		blob, err := in.c.Store.WriteRemoteBlob(ctx, name, r)
		r.CloseWithError(err)
		b.done <- blobDone{blob, err}
	}()
	return b
}
