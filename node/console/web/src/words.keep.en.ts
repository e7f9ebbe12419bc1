// English, for what each device has, retention, disk space, and access from another machine.

export const enKeep = {
  "members.unnamed": "a device without a name",
  "members.unknown": "It is not known what this device has: a device that only reads does not report it.",
  "members.behind": "On {at} it had {has} of the {all} changes of the other devices. It is not known whether it has got the other {behind} since.",
  "members.allSaid": "On {at} it reported that it has everything that is here.",
  "members.allMet": "It had everything that is here when the two met in the same network on {at}.",
  "members.sent": "{n} of its own changes {n|is|are} here.",
  "members.silent": "Added on {at}; it has sent nothing since.",
  "members.onlyIt": "Only that device knows which photos and recordings it stores, and what it keeps only at the relay.",
  "members.hot": "{n} {n|memory is|memories are} stored here in full, including past and archived ones.",
  "members.cold": "{n} {n|is|are} only at the relay.",
  "members.media": "{n} {n|photo or recording is|photos and recordings are} here.",
  "members.coldMedia": "{n} {n|is|are} only at the relay.",
  "role.writer": "yours", "role.extractor": "worker",
  "afar.how": "To change this, use the machine that runs Locket: its console, or", "afar.none": "Not available from another machine",
  "parked.title": "Lines that the language model failed on", "parked.says": "They are stored and found like any other line. The model gave no usable answer about what to remember from them.", "parked.tries": "asked {n} {n|time|times}", "parked.first": "These are the first {n}.",
  "room.title": "Disk space", "room.says": "With a limit, the memories that are asked for least are stored sealed at the relay only. Their index entries stay here, and they are fetched when needed. Pinned memories, “About you”, secrets and memories that no relay has yet stay here.", "room.budget": "Limit", "room.none": "None.", "room.set": "It is set on the machine:", "room.records": "{n} {n|memory|memories}", "room.hot": "Memories here, including past and archived", "room.cold": "Memories only at the relay", "room.media": "Photos and recordings here", "room.coldMedia": "Photos and recordings only at the relay", "room.blocked": "The limit can't be kept:", "room.missing": "What is at the relay can't be fetched now:",
  "room.keep": "Apply the limit now", "room.all": "Fetch all memories", "room.cooled": "{n} {n|memory is|memories are} now only at the relay.", "room.back": "{n} {n|memory|memories} fetched.", "room.left": "{n} fetched; {left} can't be fetched now.", "room.photos": "Copy all photos and recordings here", "room.photosAt": "{n} of {of}", "room.photosHere": "All photos and recordings are here; {n} {n|was|were} copied.", "room.photosLeft": "{n} {n|was|were} copied; no device has sent the other {left} yet.",
  "kept.title": "How long things are kept", "kept.says": "Rules erase what has not been heard again for the time they set, on all your devices. What is pinned stays.", "kept.look": "The rules, and what they would erase now", "kept.none": "There are no rules: memories stay until you forget them.", "kept.ends": "Due by now: {memories} {memories|memory|memories} and {lines} {lines|line|lines}. They are erased when the node next tidies up.",
} as const satisfies Record<string, string>;
