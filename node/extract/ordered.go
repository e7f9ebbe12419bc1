package extract

import "github.com/locket-dev/locket/memory"

// offRecord is the reason for not keeping what came after an order to stop.
const offRecord = "it came after the wearer had said to stop listening"

// ordered reports whether the pending line is an order to the node, which is not kept.
func (x *Extractor) ordered(p *pending) bool {
	if x.cfg.CarryOutOrder == nil || !x.cfg.CarryOutOrder(&p.event) {
		return false
	}
	p.refuse("", "order", "an order to the node is not kept")
	if x.cfg.IsOffRecord != nil && x.cfg.IsOffRecord(p.event.At) {
		p.unkeptLines++
	}
	return true
}

// isOffRecord reports whether the pending event tells something about the wearer and happened
// off the record, and refuses it then. Sound is checked where an utterance is cut from it.
func (x *Extractor) isOffRecord(p *pending) bool {
	switch p.event.Kind {
	case memory.KindText, memory.KindPhoto, memory.KindLocation, memory.KindSensor, memory.KindButton:
		if x.cfg.IsOffRecord != nil && x.cfg.IsOffRecord(p.event.At) {
			p.refuse("", "paused", offRecord)
			p.unkeptLines++
			return true
		}
	}
	return false
}
