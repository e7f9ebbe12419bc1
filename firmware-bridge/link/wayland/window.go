package wayland

import (
	"context"
	"fmt"
	"reflect"
	"slices"
)

// Window is a toplevel.
type Window struct {
	App, Title string // empty: it has none
	Maximized  bool
	Minimized  bool
	Activated  bool // has the focus
	Fullscreen bool
	Outputs    []uint32 // outputs on which it may be seen, in order; see [Output]
}

// Output is a screen.
type Output struct {
	ID            uint32
	Name          string // empty: the compositor has an old wl_output
	Width, Height int    // pixels, before it is turned; 0: the output is off
	Turned        int    // wl_output.transform, 0 to 7
}

// State is the windows and the outputs.
type State struct {
	// Turn counts changes, without those of titles. If two values are equal, nothing has changed in
	// between.
	Turn    uint64
	Titled  uint64   // counts title changes of windows with the focus
	Windows []Window // in no order
	Outputs []Output // in no order
}

// State returns the current state.
func (c *Client) State(ctx context.Context) (s State, err error) {
	if err := c.roundtrip(ctx); err != nil {
		return s, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.Turn, s.Titled = c.turn, c.titled
	for _, w := range c.windows {
		if w.known {
			now := w.now
			now.Outputs = slices.Clone(now.Outputs)
			s.Windows = append(s.Windows, now)
		}
	}
	for _, o := range c.outputs {
		s.Outputs = append(s.Outputs, *o)
	}
	return s, nil
}

// window is a toplevel, as it is, and as it will be once the compositor has sent all its changes.
type window struct {
	known     bool // now is complete
	now, next Window
}

// States of zwlr_foreign_toplevel_handle_v1.
const (
	stateMaximized = iota
	stateMinimized
	stateActivated
	stateFullscreen
)

// destroyToplevel is the op of zwlr_foreign_toplevel_handle_v1.destroy.
const destroyToplevel = 7

// onToplevels handles events of zwlr_foreign_toplevel_manager_v1.
func (c *Client) onToplevels(op uint16, a *arguments) {
	switch op {
	case 0: // toplevel
		id := a.uint()
		if o := c.objects[id]; a.err == nil && (id < serverFirst || o != nil || len(c.objects) >= maxObjects) {
			a.err = fmt.Errorf("object %d can't be a new one", id)
		}
		if a.err != nil {
			return
		}
		w := &window{}
		c.windows[id] = w
		c.objects[id] = &object{kind: "zwlr_foreign_toplevel_handle_v1", on: func(op uint16, a *arguments) { c.onWindow(id, w, op, a) }}
		c.turn++
	case 1: // finished
		c.fail(fmt.Errorf("%w: it stopped reporting its windows", ErrProtocol))
	default:
		a.unknown()
	}
}

func (c *Client) onWindow(id uint32, w *window, op uint16, a *arguments) {
	switch op {
	case 0:
		w.next.Title = a.string()
	case 1:
		w.next.App = a.string()
	case 2, 3: // output_enter, output_leave
		out := a.uint()
		w.next.Outputs = without(w.next.Outputs, out)
		if op == 2 && len(w.next.Outputs) < maxObjects {
			w.next.Outputs = append(w.next.Outputs, out)
			slices.Sort(w.next.Outputs)
		}
	case 4: // state
		b := a.array()
		if len(b)%4 != 0 {
			a.err = fmt.Errorf("%d bytes are not a whole number of states", len(b))
			return
		}
		has := map[uint32]bool{}
		for ; len(b) > 0; b = b[4:] {
			has[order.Uint32(b)] = true
		}
		w.next.Maximized, w.next.Minimized = has[stateMaximized], has[stateMinimized]
		w.next.Activated, w.next.Fullscreen = has[stateActivated], has[stateFullscreen]
	case 5: // done
		was, is := w.now, w.next
		if is.Activated && is.Title != was.Title {
			c.titled++
		}
		is.Title, was.Title = "", ""
		if !w.known || !reflect.DeepEqual(was, is) {
			c.turn++
		}
		w.now, w.known = w.next, true
	case 6: // closed
		delete(c.windows, id)
		c.destroy(id, destroyToplevel)
		delete(c.objects, id) // the number is the compositor's, which will use it again
		c.turn++
	case 7: // parent
		a.uint()
	default:
		a.unknown()
	}
}

// addOutput binds an output, by its name in the registry. The caller holds mu.
func (c *Client) addOutput(name, version uint32) {
	if version < 2 {
		return // this version does not tell when all its events were sent
	}
	if len(c.outputs) >= maxOutputs {
		c.fail(fmt.Errorf("%w: more than %d outputs", ErrProtocol, maxOutputs))
		return
	}
	next := &Output{}
	var id uint32
	id = c.add(outputName, func(op uint16, a *arguments) {
		switch op {
		case 0: // geometry: place, size and kind, make, model, transform
			for range 5 {
				a.uint()
			}
			_, _ = a.string(), a.string()
			next.Turned = int(a.uint() & 7)
		case 1: // mode; 1 is the current one
			if flags, w, h, _ := a.uint(), a.int(), a.int(), a.uint(); flags&1 != 0 {
				next.Width, next.Height = int(min(max(w, 0), maxSide)), int(min(max(h, 0), maxSide))
			}
		case 2: // done
			if *next != *c.outputs[id] {
				*c.outputs[id] = *next
				c.turn++
			}
		case 3: // scale
			a.uint()
		case 4:
			next.Name = a.string()
		case 5: // description
			_ = a.string()
		default:
			a.unknown()
		}
	})
	next.ID = id
	now := *next
	c.outputs[id] = &now
	c.names[name] = id
	c.turn++
	c.request(registry, 0, nil, name, outputName, version, id)
}

const maxOutputs = 64

// dropOutput removes an output that no longer exists.
func (c *Client) dropOutput(name uint32) {
	id, ok := c.names[name]
	if !ok {
		return
	}
	delete(c.names, name)
	delete(c.outputs, id)
	c.objects[id].on = func(_ uint16, a *arguments) { a.at = len(a.b) } // events for it may still come
	c.turn++
	for _, w := range c.windows {
		w.now.Outputs, w.next.Outputs = without(w.now.Outputs, id), without(w.next.Outputs, id)
	}
}

// without returns a copy of list without id; nil if none is left.
func without(list []uint32, id uint32) (left []uint32) {
	for _, o := range list {
		if o != id {
			left = append(left, o)
		}
	}
	return left
}
