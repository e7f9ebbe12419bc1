// Package files is the session of a watched folder for recordings, photos and notes.
package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/frame/fit"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/internal/engine/sight"
	"github.com/locket-dev/locket/internal/media"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// Family is the folder's entry in the list of families.
var Family = carry.Family{
	Name: "files", Short: "Carry the recordings, photos and notes that come into a folder",
	Long: `Watches a folder, such as one that a phone or a recorder is synced to, and publishes what
comes into it to the node as the wearable --name: WAV, FLAC and Ogg Opus, JPEG and PNG with
their time and place, activities of a sports watch (FIT) and plain text; M4A and MP3 where
ffmpeg is installed, HEIC where heif-convert is. A file is taken once it has not changed for three
seconds, and once, under however many names. Nothing in the folder is changed.`,
	Carrier: carry.Folder, Accepts: carry.WithMetered, Begin: begin,
}

const (
	partName = "files"
	maxDone  = 20_000    // how many sent files are remembered; an older one would be sent again, but the node knows it
	perFile  = 1 << 12   // numbers reserved for a file's messages
	piece    = 512 << 10 // bytes of samples in a message
	spoken   = 10 * time.Second
	hurry    = 250 * time.Millisecond

	flacMagic = "fLaC"
	waits     = "recordings and photos" // what waits on a network that costs by the byte
)

// part is stored across restarts.
type part struct {
	Boot uint64   `json:"boot"` // boot under which files are published
	Done []string `json:"done"` // digests of files that the node has, oldest first
}

type session struct {
	*carry.Conn
	part part
	done map[string]bool
	wait map[string]func() // files that wait while the network costs by the byte, by path, with the function that brings one again
}

func begin(ctx context.Context, c *carry.Conn) (carry.Session, error) {
	s := &session{Conn: c, done: map[string]bool{}, wait: map[string]func(){}}
	if err := c.State.Stored(partName, &s.part, &s.part.Boot); err != nil {
		return nil, err
	}
	for _, d := range s.part.Done {
		s.done[d] = true
	}
	s.Note("connected", "watching")
	return s, s.Greet(ctx, "folder")
}

// Handle implements [carry.Session]. It waits until the node has the file, so that at most one is in
// memory.
func (s *session) Handle(ctx context.Context, n link.Notification) error {
	name := path.Base(n.Char)
	if n.Data == nil {
		s.NoteDamaged(fmt.Sprintf("file %.80q has more than %d MiB", name, link.MaxFile>>20))
		return nil
	}
	sum := sha256.Sum256(n.Data)
	digest := hex.EncodeToString(sum[:12])
	if s.done[digest] {
		return nil
	}
	if s.putBy(ctx, n) {
		return nil
	}
	first := binary.BigEndian.Uint64(sum[:]) >> 11 &^ (perFile - 1) // below 2^53
	list, bad := messages(ctx, n.Data, n.At, s.part.Boot, first)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for len(list) > 0 {
		// The wearer will resume later, and the file stays where it is.
		for s.Client.Paused() {
			if !wait.For(ctx, hurry) {
				return ctx.Err()
			}
		}
		if s.putBy(ctx, n) {
			return nil
		}
		again, err := s.send(ctx, list)
		if err != nil {
			return err
		}
		if !again {
			break
		}
	}
	if errors.Is(bad, fit.ErrNone) { // not an activity: a watch's settings, the steps of a day
		s.Note("file", "%.80q has no activity", name)
		return s.finished(digest)
	}
	if bad != nil {
		s.NoteDamaged(fmt.Sprintf("file %.80q: %v", name, bad))
	}
	if bad != nil && !errors.Is(bad, fit.ErrPart) {
		return nil // the file may be incomplete; once it has changed it comes again
	}
	switch list[0].(type) {
	case *wire.Photo:
		s.Report.Photos++
	default:
		s.Report.Records++
	}
	s.Note("file", "%.80q is with the node", name)
	if bad != nil { // the file never comes again, so after a crash nothing else would report its loss
		if err := s.TellLosses(ctx, true); err != nil {
			return err
		}
	}
	return s.finished(digest)
}

// finished remembers a file that need not come again.
func (s *session) finished(digest string) error {
	s.done[digest] = true
	s.part.Done = append(s.part.Done, digest)
	if n := len(s.part.Done); n > maxDone {
		for _, old := range s.part.Done[:n-maxDone] {
			delete(s.done, old)
		}
		s.part.Done = slices.Clone(s.part.Done[n-maxDone:])
	}
	return s.State.Keep(partName, s.part)
}

// putBy reports whether a file is to wait because the network costs by the byte. Later files go on
// meanwhile, and Tick makes the folder bring the file again.
func (s *session) putBy(ctx context.Context, n link.Notification) bool {
	if !isMedia(n.Data) || !s.IsMetered(ctx, waits) {
		return false
	}
	s.wait[n.Char] = n.Resend
	return true
}

// isMedia reports whether b begins like a recording or a photo.
func isMedia(b []byte) bool {
	_, iso := isoBrand(b)
	return iso || isMP3(b) || bytes.HasPrefix(b, []byte(flacMagic)) || media.Sniff(b) != media.Unknown
}

// send publishes a file's messages and waits for the node. again says that a pause began.
func (s *session) send(ctx context.Context, list []wire.Message) (again bool, err error) {
	var receipts []*wear.Receipt
	for _, m := range list {
		r, err := s.Publish(ctx, m)
		if err != nil {
			return false, err
		}
		receipts = append(receipts, r)
	}
	for _, r := range receipts {
		switch err := r.Wait(ctx); {
		case err == nil, errors.Is(err, wear.ErrThen), errors.Is(err, wear.ErrRefused):
		case errors.Is(err, wear.ErrPaused):
			again = true
		default:
			return false, err
		}
	}
	return again, nil
}

// messages turns a file into messages; changed is when it was last written. With an error, it still
// returns what is known of the file, such as where a photo was taken.
func messages(ctx context.Context, b []byte, changed time.Time, boot, first uint64) (out []wire.Message, err error) {
	if !wire.Believed(changed, time.Now()) {
		changed = time.Time{}
	}
	switch format := media.Sniff(b); {
	case format == media.WAV:
		w, err := media.ReadWAV(b)
		if err != nil {
			return nil, err
		}
		out = samples(w, changed)
	case format == media.OggOpus:
		out, err = opus(b, changed)
	case format == media.JPEG || format == media.PNG:
		out, err = photo(b, format, sight.ReadExif(b), changed)
	case bytes.HasPrefix(b, []byte(flacMagic)):
		w, err := readFLAC(ctx, b, maxSamples)
		if err != nil {
			return nil, err
		}
		out = samples(w, changed)
	case fit.Is(b):
		out, err = activity(b, time.Now())
	case isMP3(b):
		out, err = foreign(ctx, b, "mp3", changed)
	default:
		switch brand, iso := isoBrand(b); {
		case iso && heicBrands[brand]:
			out, err = heic(ctx, b, changed)
		case iso:
			out, err = m4a(ctx, b, changed)
		default:
			out, err = note(b, changed)
		}
	}
	if whole := err == nil || errors.Is(err, fit.ErrPart); whole && (len(out) == 0 || len(out) > perFile) {
		return nil, fmt.Errorf("%w: %d pieces", media.ErrFormat, len(out))
	}
	for i, m := range out {
		m.Head().Boot, m.Head().Seq = boot, first+uint64(i)
		if _, place := m.(*wire.Location); place && !fit.Is(b) {
			m.Head().Seq = first + perFile - 1 // it may be sent without the photo, and is then sent once
		}
	}
	return out, err
}

// samples cuts sound into messages.
func samples(w media.Sound, changed time.Time) (out []wire.Message) {
	at := began(changed, w.Duration())
	for part := range slices.Chunk(w.PCM, piece) {
		out = append(out, &wire.Audio{Header: wire.Header{At: at}, Codec: "pcm16", Rate: w.Rate, Data: part, Index: uint64(len(out)), Last: len(out) == (len(w.PCM)-1)/piece})
		at = began(at, -media.Sound{Rate: w.Rate, PCM: part}.Duration())
	}
	return out
}

// m4a reads a phone's recording.
func m4a(ctx context.Context, b []byte, changed time.Time) ([]wire.Message, error) {
	list, err := boxes(b, 0)
	if err == nil {
		err = isSound(list)
	}
	if err != nil {
		return nil, fmt.Errorf("m4a: %w", err)
	}
	return foreign(ctx, b, "mov", changed)
}

// foreign reads a recording that ffmpeg decodes.
func foreign(ctx context.Context, b []byte, format string, changed time.Time) ([]wire.Message, error) {
	ogg, err := ffmpegOpus(ctx, b, format)
	if err != nil {
		return nil, err
	}
	return opus(ogg, changed)
}

// heic reads a photo, which heif-convert decodes. If that fails, it still returns the photo's
// place.
func heic(ctx context.Context, b []byte, changed time.Time) ([]wire.Message, error) {
	x, err := readHEIC(b)
	if err != nil {
		return nil, err
	}
	jpeg, err := heifConvert(ctx, b)
	if err != nil {
		return where(x, taken(x, changed)), err
	}
	x.Turn = 0 // heif-convert turned it upright
	return photo(jpeg, media.JPEG, x, changed)
}

// photo makes the parts of a photo, and its place.
func photo(b []byte, format media.Format, x sight.Exif, changed time.Time) (out []wire.Message, err error) {
	if _, _, err := media.Picture(b); err != nil {
		return nil, err
	}
	// The preview that a camera embeds has an end marker of its own, near the beginning.
	if format == media.JPEG && bytes.LastIndex(b, []byte{0xff, 0xd9}) < len(b)/2 {
		return nil, fmt.Errorf("%w: jpeg: its end is missing", media.ErrFormat)
	}
	at := taken(x, changed)
	parts := (len(b) + wire.MaxData - 1) / wire.MaxData
	if parts > wire.MaxParts {
		return nil, fmt.Errorf("%w: a photo of %d bytes", media.ErrFormat, len(b))
	}
	for part := range slices.Chunk(b, wire.MaxData) {
		p := &wire.Photo{Header: wire.Header{At: at}, Codec: string(format), Data: part, Orientation: 90 * x.Turn}
		if parts > 1 {
			p.Part, p.Parts = len(out), parts
		}
		out = append(out, p)
	}
	return append(out, where(x, at)...), nil
}

// where returns a photo's place, if the camera wrote it.
func where(x sight.Exif, at time.Time) []wire.Message {
	if !x.Placed {
		return nil
	}
	return []wire.Message{&wire.Location{Header: wire.Header{At: at}, Place: memory.Place{Lat: x.Lat, Lon: x.Lon}}}
}

// note reads a text file.
func note(b []byte, changed time.Time) ([]wire.Message, error) {
	text := strings.TrimSpace(strings.TrimPrefix(string(b), "\ufeff"))
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) || text == "" || len(text) > memory.MaxText {
		return nil, fmt.Errorf("%w: neither WAV, FLAC, Ogg Opus, M4A, MP3, JPEG, PNG, HEIC, FIT nor a text of up to %d bytes", media.ErrFormat, memory.MaxText)
	}
	return []wire.Message{&wire.Words{Header: wire.Header{At: changed}, Text: text}}, nil
}

// opus cuts a recording into pieces of ten seconds.
func opus(b []byte, changed time.Time) (out []wire.Message, err error) {
	packets, channels, err := media.ReadOpus(b)
	if err != nil {
		return nil, err
	}
	if channels != 1 {
		return nil, fmt.Errorf("%w: ogg: %d channels, want 1", media.ErrFormat, channels)
	}
	var all, lasts time.Duration
	for _, p := range packets {
		all += p.Duration
	}
	at := began(changed, all)
	var data []byte
	for i, p := range packets {
		if data, err = wire.AppendPacket(data, p.Data); err != nil {
			return nil, err
		}
		lasts += p.Duration
		if last := i == len(packets)-1; last || lasts >= spoken || len(data) > piece {
			out = append(out, &wire.Audio{Header: wire.Header{At: at}, Codec: "opus", Rate: 48000, Data: data, Index: uint64(len(out)), Last: last})
			at, data, lasts = began(at, -lasts), nil, 0
		}
	}
	return out, nil
}

// began returns when a recording began that ended at the given time; zero if that is not known.
func began(end time.Time, lasts time.Duration) time.Time {
	if end.IsZero() {
		return end
	}
	return end.Add(-lasts)
}

// taken returns when a photo was taken, from the camera's tags, or else the file's time. If the
// camera writes no zone, the zone of this machine is assumed.
func taken(x sight.Exif, changed time.Time) time.Time {
	at := x.Taken
	if !x.Zoned && !at.IsZero() {
		at = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, time.Local)
	}
	if !wire.Believed(at, time.Now()) {
		return changed
	}
	return at
}

func (s *session) Tick(ctx context.Context, _ time.Time) error {
	if len(s.wait) > 0 && !s.IsMetered(ctx, waits) {
		for _, again := range s.wait {
			again()
		}
		clear(s.wait)
	}
	return s.TellLosses(ctx, false)
}

// Command implements [carry.Session]. While the wearer pauses, files wait in their folder.
func (s *session) Command(context.Context, *wire.Cmd) error { return nil }

func (s *session) End(ctx context.Context) error {
	return errors.Join(s.TellLosses(ctx, true), s.Status(ctx, "offline", "the folder is not watched"))
}
