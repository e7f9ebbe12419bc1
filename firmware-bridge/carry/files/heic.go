package files

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/sight"
	"github.com/locket-dev/locket/internal/media"
)

// heicBrands are the brands of pictures encoded by HEVC (ISO/IEC 23008-12, annex B).
var heicBrands = map[string]bool{"heic": true, "heix": true, "heim": true, "heis": true, "hevc": true, "hevx": true, "mif1": true, "msf1": true}

// errHEIC: the program that decodes HEIC is missing.
var errHEIC = errors.New("HEIC not decoded: the program heif-convert is missing; install Debian's libheif-examples, or libheif, and start the bridge again")

// readHEIC checks that a picture is complete, and returns its Exif, or the zero Exif if it has
// none.
func readHEIC(b []byte) (x sight.Exif, err error) {
	file, err := boxes(b, 0)
	if err != nil {
		return x, fmt.Errorf("heic: %w", err)
	}
	m, ok := find(file, "meta")
	if !ok {
		return x, fmt.Errorf("%w: heic: it has no meta box: its end may be missing", media.ErrFormat)
	}
	_, m, err = m.full()
	if err != nil {
		return x, fmt.Errorf("heic: %w", err)
	}
	meta, err := boxes(m.body, m.at)
	if err != nil {
		return x, fmt.Errorf("heic: %w", err)
	}
	item, err := exifItem(meta)
	if err != nil {
		return x, fmt.Errorf("heic: %w", err)
	}
	data, err := items(b, meta, item)
	if err != nil {
		return x, fmt.Errorf("heic: %w", err)
	}
	// ISO/IEC 23008-12, A.2.1: the offset of TIFF's header, which "Exif\0\0" may precede.
	if len(data) >= 4 {
		if skip := uint64(binary.BigEndian.Uint32(data)) + 4; skip <= uint64(len(data)) {
			return sight.ReadTIFF(data[skip:]), nil
		}
	}
	return x, nil
}

// exifItem returns the id of the Exif item; 0: there is none.
func exifItem(meta []box) (id uint64, err error) {
	iinf, ok := find(meta, "iinf")
	if !ok {
		return 0, nil
	}
	version, rest, err := iinf.full()
	if err != nil {
		return 0, err
	}
	head := 2 // the number of entries, which follows from the boxes as well
	if version > 0 {
		head = 4
	}
	if len(rest.body) < head {
		return 0, fmt.Errorf("%w: box at offset %d: \"iinf\" is too short", media.ErrFormat, iinf.at)
	}
	list, err := boxes(rest.body[head:], rest.at+head)
	if err != nil {
		return 0, err
	}
	for _, e := range list {
		version, rest, err := e.full()
		if err != nil {
			return 0, err
		}
		if e.kind != "infe" || version < 2 {
			continue
		}
		f := fields{b: rest.body}
		size := 2
		if version > 2 {
			size = 4
		}
		id := f.uint(size)
		f.uint(2) // protection
		if f.uint(4) == 0x45786966 /* Exif */ {
			return id, nil
		}
	}
	return 0, nil
}

// maxExtents limits the extents of all items. The tiles of a photo are some hundred items of one
// extent each.
const maxExtents = 1 << 16

// items checks every item's extents against the file, and returns the bytes of item want if it has
// a single extent (8.11.3), or nil.
func items(file []byte, meta []box, want uint64) (data []byte, err error) {
	iloc, ok := find(meta, "iloc")
	if !ok {
		return nil, fmt.Errorf("%w: no places of its items", media.ErrFormat)
	}
	version, rest, err := iloc.full()
	if err != nil {
		return nil, err
	}
	f := fields{b: rest.body}
	sizes := f.uint(2)
	wide, long, base, index := int(sizes>>12), int(sizes>>8&15), int(sizes>>4&15), int(sizes&15)
	for _, s := range []int{wide, long, base, index} {
		if s != 0 && s != 4 && s != 8 {
			return nil, fmt.Errorf("%w: box at offset %d: numbers of %d bytes", media.ErrFormat, iloc.at, s)
		}
	}
	id := 2
	if version > 1 {
		id = 4
	}
	each := wide + long // bytes of an extent's entry
	if version > 0 {
		each += index
	}
	left := uint64(maxExtents)
	for n := f.uint(id); n > 0 && !f.short; n-- {
		item := f.uint(id)
		method := uint64(0)
		if version > 0 {
			method = f.uint(2) & 15
		}
		f.uint(2) // the file that it lies in
		from := f.uint(base)
		extents := f.uint(2)
		switch {
		case extents > 1 && each == 0:
			return nil, fmt.Errorf("%w: box at offset %d: item %d has %d pieces, and no place for any", media.ErrFormat, iloc.at, item, extents)
		case extents > left:
			return nil, fmt.Errorf("%w: box at offset %d: its items have more than %d pieces", media.ErrFormat, iloc.at, maxExtents)
		}
		left -= extents
		for range extents {
			if version > 0 {
				f.uint(index)
			}
			off, size := f.uint(wide), f.uint(long)
			if f.short {
				break
			}
			if method != 0 {
				continue // inside this box, or made of other items
			}
			if end := uint64(len(file)); from > end || off > end-from || size > end-from-off {
				return nil, fmt.Errorf("%w: item %d lies at %d+%d and has %d bytes; the file has %d: its end is missing", media.ErrFormat, item, from, off, size, end)
			}
			if item == want && extents == 1 && want != 0 {
				data = file[from+off : from+off+size]
			}
		}
	}
	if f.short {
		return nil, fmt.Errorf("%w: box at offset %d: the places of its items are cut", media.ErrFormat, iloc.at)
	}
	return data, nil
}

// heifConvert decodes a picture, in a separate process. Its output is upright.
func heifConvert(ctx context.Context, b []byte) ([]byte, error) {
	c := engine.Command{Engine: "heif-convert", Program: "heif-convert",
		Limits: engine.Limits{Wall: 2 * time.Minute, CPU: time.Minute, Memory: 1 << 30, Output: 40 << 20, File: 80 << 20}}
	if _, err := c.Find(); err != nil {
		return nil, errHEIC
	}
	// From a file with several pictures the program writes a file for each; the first is taken.
	return c.Run(ctx, engine.Input{File: b, FileName: "in.heic", Results: []string{"out.jpg", "out-1.jpg"}}, "-q", "90", "in.heic", "out.jpg")
}
