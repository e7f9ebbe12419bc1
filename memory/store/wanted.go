package store

import (
	"github.com/locket-dev/locket/memory"
)

// wantCold reports whether a memory is cold and, in a writing transaction, requests it.
func (t *Tx) wantCold(id memory.ID) (bool, error) {
	if !t.store.cold.any() {
		return false, nil
	}
	_, p, i, err := t.unitOf(id)
	if err != nil || i < 0 || t.state == nil {
		return err == nil && i >= 0, err
	}
	return true, t.want(p.Units[i].Group)
}

// Want requests a cold memory, see [Tx.Wanted]; if the memory is hot, it does nothing.
func (t *Tx) Want(id memory.ID) error {
	if t.state == nil {
		return errReadOnly
	}
	_, err := t.wantCold(id)
	return err
}

// wantGroup requests a group if it is cold and something new is said about it. Until the group is
// back, new assertions are derived by themselves; afterwards everything is derived together, so
// that the order makes no difference.
func (t *Tx) wantGroup(name string) error {
	if t.state == nil || !t.store.cold.any() {
		return nil
	}
	mac := t.groupPrefix(name)[1:]
	if _, _, i, err := t.unitOfGroup(mac); err != nil || i < 0 {
		return err
	}
	return t.want(mac)
}

func (t *Tx) want(mac []byte) error {
	key := keyOf(kindWanted, mac)
	if _, there, err := t.get(key); err != nil || there {
		return err
	}
	return t.put(key, nil)
}

// Wanted returns the requested cold memories: those about which something was said, or from whose
// group a memory was erased.
func (t *Tx) Wanted() (out []Stub, err error) {
	if !t.store.cold.any() {
		return nil, nil
	}
	for e, err := range t.scan(keyOf(kindWanted), nil, false) {
		if err != nil {
			return nil, err
		}
		pack, p, i, err := t.unitOfGroup(e.key[1:])
		if err != nil {
			return nil, err
		}
		if i >= 0 {
			out = append(out, p.Units[i].Members[0].stub(pack))
		}
	}
	return out, nil
}
