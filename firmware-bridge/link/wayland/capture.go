package wayland

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"sync"
)

// ErrNoPicture: the compositor gives no picture now, for example because the output is off.
var ErrNoPicture = errors.New("wayland: the compositor gives no picture of it now")

// ErrUnread: the output's pixels are in a format that is not read here, and stay so until its mode
// changes.
var ErrUnread = errors.New("wayland: its pictures can't be read")

const (
	maxSide  = 1 << 14 // pixels
	maxBytes = 1 << 27 // bytes of a picture: 8K has 127 MiB
)

// Pixel formats that are read (wayland.xml, wl_shm.format): 32 bits, in the order of bytes in the
// name.
const (
	formatBGRA = 0          // argb8888
	formatBGRX = 1          // xrgb8888
	formatRGBA = 0x34324241 // abgr8888
	formatRGBX = 0x34324258 // xbgr8888
)

// Picture is rows from the top, of 4 bytes a pixel: blue, green, red, and an unused one.
type Picture struct {
	Width, Height int
	Pix           []byte
}

// frame is a picture that is being made.
type frame struct {
	format, width, height, stride uint32
	upsideDown                    bool
	failed                        bool
	offered                       func() // called once the format is known, or failed is set
	ended                         func() // called once the pixels are there, or failed is set
}

// Capture returns what a person sees in a part of an output, without the pointer. The part is in
// logical pixels; logical is the output's size in them. The picture has those physical pixels that
// lie entirely in the part. The errors are ErrNoPicture if the compositor gives none, and
// ErrUnread.
//
// The compositor is asked for the whole output, and the part is cut out here, because wlroots 0.15
// returns a wrong part if the output is turned.
func (c *Client) Capture(ctx context.Context, output uint32, logical image.Point, part image.Rectangle) (*Picture, error) {
	offered, ended := make(chan struct{}), make(chan struct{})
	f := &frame{offered: sync.OnceFunc(func() { close(offered) }), ended: sync.OnceFunc(func() { close(ended) })}
	c.mu.Lock()
	out := c.outputs[output]
	if out == nil {
		c.mu.Unlock()
		return nil, ErrNoPicture
	}
	turned := out.Turned
	id := c.add("zwlr_screencopy_frame_v1", f.on)
	c.request(c.bound[copyName], 0, nil, id, int32(0), output)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.destroy(id, 1)
		c.mu.Unlock()
	}()
	if err := c.wait(ctx, offered); err != nil {
		return nil, err
	}
	c.mu.Lock()
	is := *f
	c.mu.Unlock()
	size, err := is.size()
	if err != nil {
		return nil, err
	}
	file, err := memory(size)
	if err != nil {
		return nil, fmt.Errorf("memory for a picture: %w", err)
	}
	defer file.Close()
	defer c.copy(id, &is, file, size)()
	if err := c.wait(ctx, ended); err != nil {
		return nil, err
	}
	c.mu.Lock()
	is.failed, is.upsideDown = f.failed, f.upsideDown
	c.mu.Unlock()
	if is.failed {
		return nil, ErrNoPicture
	}
	return is.picture(file, turned, logical, part)
}

// copy asks for the pixels, and returns what has to be called at the end.
func (c *Client) copy(id uint32, f *frame, file *os.File, size int64) (done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pool := c.add("wl_shm_pool", func(_ uint16, a *arguments) { a.unknown() })
	c.request(c.bound[shmName], 0, file, pool, int32(size))
	buffer := c.add("wl_buffer", func(uint16, *arguments) {}) // on release there is nothing to do
	c.request(pool, 0, nil, buffer, int32(0), int32(f.width), int32(f.height), int32(f.stride), f.format)
	c.destroy(pool, 1)
	c.request(id, 0, nil, buffer)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.destroy(buffer, 0)
	}
}

// on handles its events; the client's mu is held.
func (f *frame) on(op uint16, a *arguments) {
	switch op {
	case 0: // buffer
		f.format, f.width, f.height, f.stride = a.uint(), a.uint(), a.uint(), a.uint()
		f.offered()
	case 1: // flags
		f.upsideDown = a.uint()&1 != 0
	case 2: // ready, at a time
		_, _, _ = a.uint(), a.uint(), a.uint()
		f.ended()
	case 3:
		f.failed = true
		f.offered()
		f.ended()
	default:
		a.unknown()
	}
}

// size returns the bytes of the picture, if it can be read.
func (f *frame) size() (int64, error) {
	size := int64(f.stride) * int64(f.height)
	switch {
	case f.failed:
		return 0, ErrNoPicture
	case f.format != formatBGRA && f.format != formatBGRX && f.format != formatRGBA && f.format != formatRGBX:
		return 0, fmt.Errorf("%w: pixels of format %#x", ErrUnread, f.format)
	case f.width != 0 && f.width <= maxSide && f.height <= maxSide && f.stride >= 4*f.width && f.stride <= 8*maxSide && size > maxBytes:
		return 0, fmt.Errorf("%w: a picture of %d×%d pixels is more than %d MiB", ErrUnread, f.width, f.height, maxBytes>>20)
	case f.width == 0 || f.height == 0 || f.width > maxSide || f.height > maxSide || f.stride < 4*f.width || size > maxBytes:
		return 0, fmt.Errorf("%w: a picture of %d×%d pixels, with %d bytes a row", ErrProtocol, f.width, f.height, f.stride)
	}
	return size, nil
}

// picture reads a part of what the compositor wrote.
func (f *frame) picture(file *os.File, turned int, logical image.Point, part image.Rectangle) (*Picture, error) {
	w, h, stride := int(f.width), int(f.height), int(f.stride)
	b := make([]byte, stride*h)
	if _, err := file.ReadAt(b, 0); err != nil {
		return nil, fmt.Errorf("read the picture: %w", err)
	}
	if turned&1 != 0 {
		w, h = h, w // as a person sees it
	}
	at, ok := physical(part, logical, image.Pt(w, h))
	if !ok {
		return nil, ErrNoPicture
	}
	p := &Picture{Width: at.Dx(), Height: at.Dy(), Pix: make([]byte, 4*at.Dx()*at.Dy())}
	red := 2
	if f.format == formatRGBA || f.format == formatRGBX {
		red = 0
	}
	to := p.Pix
	for y := at.Min.Y; y < at.Max.Y; y++ {
		for x := at.Min.X; x < at.Max.X; x++ {
			fx, fy := unturned(turned, x, y, w, h)
			if f.upsideDown {
				fy = int(f.height) - 1 - fy
			}
			from := b[fy*stride+4*fx:]
			to[0], to[1], to[2] = from[2-red], from[1], from[red]
			to = to[4:]
		}
	}
	return p, nil
}

// physical returns the physical pixels that lie in a part in logical ones; false: there are none.
func physical(part image.Rectangle, logical, size image.Point) (image.Rectangle, bool) {
	part = part.Intersect(image.Rectangle{Max: logical})
	if part.Empty() {
		return part, false
	}
	up := func(n, of, by int) int { return (n*by + of - 1) / of }
	r := image.Rectangle{ // image.Rect would swap the corners of an empty one
		Min: image.Pt(up(part.Min.X, logical.X, size.X), up(part.Min.Y, logical.Y, size.Y)),
		Max: image.Pt(part.Max.X*size.X/logical.X, part.Max.Y*size.Y/logical.Y),
	}
	return r, r.Min.X < r.Max.X && r.Min.Y < r.Max.Y
}

// unturned returns where the pixel at x, y, as a person sees it in a picture of the given size, is
// in the compositor's buffer, which has the output's orientation (wl_output.transform).
func unturned(by, x, y, width, height int) (int, int) {
	switch by {
	case 1: // 90°
		return y, width - 1 - x
	case 2:
		return width - 1 - x, height - 1 - y
	case 3:
		return height - 1 - y, x
	case 4: // flipped
		return width - 1 - x, y
	case 5:
		return y, x
	case 6:
		return x, height - 1 - y
	case 7:
		return height - 1 - y, width - 1 - x
	}
	return x, y
}
