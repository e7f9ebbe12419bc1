package files

import "encoding/binary"

// Files that the session's tests share.
var (
	AAC      = aac
	HEIC     = photoHEIC
	Activity = activity
	Heart    = heart
	Told     = describe
)

// Folders of the example day and of recordings of speech.
const (
	Day        = day
	Recordings = recordings
)

// Tagged puts Exif into a JPEG: taken on 14 March 2026 at 12:00 at +02:00, rotated by a quarter
// turn, at 52.5 N 13.25 W (CIPA DC-008).
func Tagged(jpeg []byte) []byte {
	le := binary.LittleEndian
	type entry struct {
		tag, kind uint16
		count     uint32
		value     []byte
	}
	var tiff []byte
	// directory appends a directory to tiff, followed by the values that do not fit into it.
	directory := func(entries ...entry) uint32 {
		at := uint32(len(tiff))
		b := le.AppendUint16(nil, uint16(len(entries)))
		far := at + 2 + 12*uint32(len(entries)) + 4
		var behind []byte
		for _, e := range entries {
			b = le.AppendUint32(le.AppendUint16(le.AppendUint16(b, e.tag), e.kind), e.count)
			if len(e.value) > 4 {
				b = le.AppendUint32(b, far+uint32(len(behind)))
				behind = append(behind, e.value...)
			} else {
				b = append(b, append(e.value, make([]byte, 4-len(e.value))...)...)
			}
		}
		tiff = append(append(tiff, le.AppendUint32(b, 0)...), behind...)
		return at
	}
	text := func(tag uint16, s string) entry { return entry{tag, 2, uint32(len(s) + 1), append([]byte(s), 0)} }
	degrees := func(tag uint16, d, m uint32) entry {
		var b []byte
		for _, n := range []uint32{d, 1, m, 1, 0, 1} {
			b = le.AppendUint32(b, n)
		}
		return entry{tag, 5, 3, b}
	}
	tiff = append([]byte("II*\x00"), 0, 0, 0, 0)
	more := directory(text(0x9003, "2026:03:14 12:00:00"), text(0x9011, "+02:00"))
	gps := directory(text(1, "N"), degrees(2, 52, 30), text(3, "W"), degrees(4, 13, 15))
	first := directory(entry{0x0112, 3, 1, []byte{6, 0}}, entry{0x8769, 4, 1, le.AppendUint32(nil, more)}, entry{0x8825, 4, 1, le.AppendUint32(nil, gps)})
	le.PutUint32(tiff[4:], first)
	body := append([]byte("Exif\x00\x00"), tiff...)
	segment := append(binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(body)+2)), body...)
	return append(append(append([]byte(nil), jpeg[:2]...), segment...), jpeg[2:]...)
}
