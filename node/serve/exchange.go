package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/archive"
)

// Exchange exports and imports everything, and reports changes. Secrets of the vault
// stay sealed unless they are requested.
type Exchange interface {
	// Export returns an archive of everything. The sequence ends at the first
	// error.
	Export(ctx context.Context, opt ExportOptions) iter.Seq2[ExportRecord, error]
	// Import imports an archive, after it has checked that the whole archive is valid
	// and signed as opt requires; otherwise it returns ErrSigner. It skips what
	// exists already.
	Import(ctx context.Context, records iter.Seq2[ExportRecord, error], opt ImportOptions) (ImportResult, error)
	// Foreign reads a file of another system, or a folder of this machine, and adds
	// nothing. An error wraps memory.ErrInvalid if it does not belong to that system.
	Foreign(ctx context.Context, q ForeignQuery, body io.Reader) (Foreign, error)
	// Changes returns the changes of the replica after a sequence number,
	// oldest first. With follow it continues until ctx ends; then the sequence
	// ends without an error.
	Changes(ctx context.Context, after uint64, follow bool) iter.Seq2[memory.Change, error]
}

// ExportRecord is one line of an export; see package archive.
type ExportRecord = archive.Record

// ExportOptions say what an export contains besides what was said and asserted.
type ExportOptions struct {
	// Secrets includes the vault's values in clear. Export returns ErrVaultLocked
	// while the vault is closed. The owner can see later that each value was read.
	// Values that are sealed to another device stay sealed.
	Secrets bool `query:"secrets" default:"false" doc:"include the values of the vault, which must be unlocked"`
}

// ImportOptions say which archives the wearer trusts.
type ImportOptions struct {
	Unsigned bool   `query:"unsigned" default:"false" doc:"accept an archive without a signature"`
	Signer   string `query:"signer" doc:"five words of the key that signed it, if that is not the key of a device of yours"`
}

// ImportResult counts the imported records.
type ImportResult struct {
	Taken     int    `json:"taken"`
	Skipped   int    `json:"skipped"`             // existed here already
	Forgotten int    `json:"forgotten,omitempty"` // were forgotten here, and are not restored
	Refused   int    `json:"refused"`             // broke a rule; listed in quarantine
	Signer    string `json:"signer,omitempty"`    // words that identify the key of the signature
	// Sealed are the labels of imported secrets that this node can't open.
	Sealed []string `json:"sealed,omitempty"`
	// Wearer is whose memories the archive has, if this node's wearer has another name.
	Wearer string `json:"wearer,omitempty"`
}

type changesQuery struct {
	After  uint64 `query:"after" min:"0" default:"0" doc:"sequence number of the last known change"`
	Follow bool   `query:"follow" default:"false" doc:"continue with future changes"`
}

var exchangeTopic = topic[Exchange]{changes.untyped, exportAll.untyped, importAll.untyped, readForeign.untyped}

var (
	changes = streamRoute(RightRead, spec{
		method: "GET", path: "/v1/changes", id: "changes", body: -1,
		summary: "List the changes on this node, oldest first", gives: "One change per line",
	}, func(s Exchange, ctx context.Context, in changesQuery) iter.Seq2[memory.Change, error] {
		return s.Changes(ctx, in.After, in.Follow)
	})

	exportAll = streamRoute(RightOwner, spec{
		method: "GET", path: "/v1/export", id: "exportAll", body: -1,
		summary: "Export everything, one record per line",
		about:   "A header, utterances, assertions, blobs in parts, an end record with their count, and this device's signature over the set of records. Package archive documents the format.",
		gives:   "All records, from the header to the signature; without the end record, the export is incomplete",
	}, Exchange.Export)

	importAll = withLineBody[ExportRecord](rawRoute[Exchange, ImportOptions, ImportResult](RightOwner, spec{
		method: "POST", path: "/v1/import", id: "importAll", body: -1,
		summary: "Import an export",
		about:   "The archive is stored sealed until it has been checked as a whole, with its signature. Nothing is imported from an archive that is incomplete, was changed, or is not yours.",
		gives:   "Counts of what was imported; what exists already is skipped, and what was forgotten here stays forgotten",
	}, []Format{jsonOf[ImportResult]("application/json")}, readArchive))
)

func readArchive(w http.ResponseWriter, r *http.Request, s Exchange, opt ImportOptions) error {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != MediaTypeLines {
		return kindMedia.problem("", "want "+MediaTypeLines)
	}
	res, err := s.Import(r.Context(), ReadArchive(r.Body), opt)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, "application/json", res)
	return nil
}

// ReadArchive reads the lines of an export. An error names the line and ends
// the sequence.
func ReadArchive(r io.Reader) iter.Seq2[ExportRecord, error] {
	return func(yield func(ExportRecord, error) bool) {
		n := 0
		for line, err := range lines(r) {
			n++
			var rec ExportRecord
			if err == nil {
				err = decodeStrict(line, &rec)
			}
			if err != nil {
				yield(ExportRecord{}, atLine(err, n))
				return
			}
			if !yield(rec, nil) {
				return
			}
		}
	}
}

func atLine(err error, n int) error {
	p, ok := errors.AsType[*Problem](err)
	if !ok {
		return fmt.Errorf("line %d: %w", n, err)
	}
	at := *p
	at.Detail = fmt.Sprintf("line %d: %s", n, p.Detail)
	return &at
}

// Changes returns the changes after a sequence number, oldest first. With
// follow it also returns later ones, until ctx ends.
func (c *Client) Changes(ctx context.Context, after uint64, follow bool) iter.Seq2[memory.Change, error] {
	return stream(ctx, c, changes, changesQuery{after, follow})
}

// Export returns an archive. An interrupted stream ends with an error.
func (c *Client) Export(ctx context.Context, opt ExportOptions) iter.Seq2[ExportRecord, error] {
	return stream(ctx, c, exportAll, opt)
}

// Import sends the lines of an archive to the node.
func (c *Client) Import(ctx context.Context, r io.Reader, opt ImportOptions) (v ImportResult, err error) {
	res, err := send(ctx, c, importAll, opt, "", io.NopCloser(r))
	if err != nil {
		return v, err
	}
	return v, readAnswer(res, &v)
}
