package fuel

import "encoding/binary"

// emitter writes the rewritten body.
type emitter struct {
	f         *function
	out       []byte
	stretches []stretch // open stretches; the last one has the current code
	loops     []int     // for each open loop: how many blocks were open around it
	copied    int       // the original's code has been written up to here
}

func (e *emitter) op(b ...byte) { e.out = append(e.out, b...) }

func (e *emitter) indexed(op byte, index uint32) { e.out = appendU32(append(e.out, op), index) }

func (e *emitter) constant(op byte, v int64) { e.out = appendS64(append(e.out, op), v) }

// The added locals: an i64 and an i32.
func (e *emitter) wide() uint32   { return uint32(e.f.locals) }
func (e *emitter) narrow() uint32 { return uint32(e.f.locals) + 1 }

// wrapped reports whether the body becomes a block, so that every way out of the function goes
// through its end.
func (f *function) wrapped() bool { return f.calls || f.loops }

func (e *emitter) begin() {
	f := e.f
	e.out = appendU32(e.out, f.ndecls+2)
	e.op(f.decls...)
	e.op(1, typeI64, 1, typeI32)
	e.copied = f.start
	e.indexed(opGlobalGet, f.m.fuel())
	e.openStretch()
	if f.calls {
		depth := f.m.depth()
		e.indexed(opGlobalGet, depth)
		e.constant(opI32Const, f.frame())
		e.op(opI32Add)
		e.indexed(opLocalTee, e.narrow())
		e.indexed(opGlobalSet, depth)
		e.indexed(opLocalGet, e.narrow())
		e.constant(opI32Const, MaxDepth)
		e.op(opI32GtU, opIf, typeEmpty, opUnreachable, opEnd)
	}
	if !f.wrapped() {
		return
	}
	e.op(opBlock)
	switch res := f.sig.results; len(res) {
	case 0:
		e.op(typeEmpty)
	case 1:
		e.op(res[0])
	default:
		e.out = appendS64(e.out, int64(f.m.addedType[res]))
	}
}

// upTo copies the original's code up to an offset.
func (e *emitter) upTo(i int) {
	e.op(e.f.code.b[e.copied:i]...)
	e.copied = i
}

// instruction writes the code before or after an instruction, or in its place.
func (e *emitter) instruction(in *instr, from int) error {
	f := e.f
	open := len(f.blocks)
	e.stretches[len(e.stretches)-1].weight += f.weight
	f.weight = 0
	after := f.code.i
	switch {
	case (in.op == opCall || in.op == opCallIndirect) && f.loops:
		e.upTo(from)
		e.store()
		e.upTo(after)
		e.indexed(opGlobalGet, f.m.fuel())
		e.indexed(opLocalSet, e.wide())
	case in.op == opReturn && f.wrapped():
		e.upTo(from)
		e.indexed(opBr, uint32(open-1))
		e.copied = after
	case in.op == opLoop:
		l := f.list[f.entered]
		if f.unrolls(l) {
			return e.unroll(l, from)
		}
		if l.dispatch == nil {
			e.upTo(after)
		} else {
			e.upTo(from)
		}
		e.loops = append(e.loops, open)
		e.fuel()
		e.openStretch()
		e.upTo(after)
	case in.op == opBr:
		// Such a branch is not in an inner loop, so the stretch is the last one.
		n := open - 1 - int(in.arg)
		if l := f.blocks[n].loop; l != nil && l.dispatch != nil && !f.ahead(l, n) {
			e.upTo(from)
			e.fuel()
			e.pay()
		}
	case in.op == opEnd:
		if n := len(e.loops); n > 0 && e.loops[n-1] == open-1 {
			e.loops = e.loops[:n-1]
			e.closeStretch()
		}
		if open == 1 {
			e.upTo(after)
			e.finish()
		}
	case in.op == opMemoryGrow:
		e.upTo(from)
		e.bulk(opI64Shl, 10)
		e.upTo(after)
		e.indexed(opLocalTee, e.narrow())
		e.constant(opI32Const, -1)
		e.op(opI32Eq, opIf, typeEmpty)
		e.constant(opI32Const, 1)
		e.indexed(opGlobalSet, f.m.starved())
		e.op(opEnd)
		e.indexed(opLocalGet, e.narrow())
	case in.op == opMisc && (in.misc == miscMemoryInit || in.misc == miscMemoryCopy || in.misc == miscMemoryFill):
		e.upTo(from)
		e.bulk(opI64ShrU, 6)
	case in.op == opMisc && (in.misc == miscTableInit || in.misc == miscTableCopy || in.misc == miscTableGrow || in.misc == miscTableFill):
		e.upTo(from)
		e.bulk(opI64ShrU, 3)
	}
	return nil
}

// finish writes what follows the block that contains the body.
func (e *emitter) finish() {
	if e.f.loops {
		e.store()
	}
	if e.f.calls {
		depth := e.f.m.depth()
		e.indexed(opGlobalGet, depth)
		e.constant(opI32Const, e.f.frame())
		e.op(opI32Sub)
		e.indexed(opGlobalSet, depth)
	}
	if e.f.wrapped() {
		e.op(opEnd)
	}
	e.closeStretch()
}

// openStretch charges the fuel on top of the stack for a stretch whose cost is not known until it
// closes.
func (e *emitter) openStretch() {
	e.stretches = append(e.stretches, stretch{})
	e.pay()
}

// pay charges the fuel on top of the stack for the stretch that was opened last.
func (e *emitter) pay() {
	s := &e.stretches[len(e.stretches)-1]
	e.op(opI64Const)
	s.patches = append(s.patches, len(e.out))
	e.op(make([]byte, costBytes)...)
	e.op(opI64Sub)
	e.check()
}

// cost returns the cost of a weight that is charged once.
func cost(weight int) int64 { return int64(1 + weight/WeightUnit) }

func (e *emitter) closeStretch() {
	s := e.stretches[len(e.stretches)-1]
	e.stretches = e.stretches[:len(e.stretches)-1]
	c := uint32(cost(s.weight))
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], c&0x7f|0x80|(c>>7&0x7f|0x80)<<8|c>>14<<16)
	for _, at := range s.patches {
		copy(e.out[at:], b[:costBytes])
	}
}

// bulk charges for the i32 on top of the stack, shifted by op, and leaves it there.
func (e *emitter) bulk(op byte, by int64) {
	e.indexed(opLocalSet, e.narrow())
	e.fuel()
	e.indexed(opLocalGet, e.narrow())
	e.op(opI64ExtendU)
	e.constant(opI64Const, by)
	e.op(op, opI64Sub)
	e.check()
	e.indexed(opLocalGet, e.narrow())
}

// check stores the i64 on top of the stack as fuel, and traps below zero. A function with loops
// keeps its fuel in a local, which is in a register, and stores it before it calls or ends: a turn
// of a loop that waits for the global to come back from memory takes twice as long.
func (e *emitter) check() {
	e.indexed(opLocalTee, e.wide())
	if !e.f.loops {
		e.indexed(opGlobalSet, e.f.m.fuel())
		e.indexed(opLocalGet, e.wide())
	}
	e.constant(opI64Const, 0)
	e.op(opI64LtS, opIf, typeEmpty)
	if e.f.loops {
		e.store()
	}
	e.op(opUnreachable, opEnd)
}

// fuel pushes the remaining fuel.
func (e *emitter) fuel() {
	if e.f.loops {
		e.indexed(opLocalGet, e.wide())
	} else { // after a call the local is outdated
		e.indexed(opGlobalGet, e.f.m.fuel())
	}
}

func (e *emitter) store() {
	e.indexed(opLocalGet, e.wide())
	e.indexed(opGlobalSet, e.f.m.fuel())
}
