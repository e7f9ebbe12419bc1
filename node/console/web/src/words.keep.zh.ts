// 中文，每台设备有什么、保留多久、在哪里能做什么。

import type { enKeep } from "./words.keep.en";

export const zhKeep: Record<keyof typeof enKeep, string> = {
  "members.unnamed": "没有名字的设备",
  "members.unknown": "这里不知道它有什么：只读取的设备不会告诉任何人。",
  "members.behind": "{at} 时它有其他设备 {all} 项更改中的 {has} 项；另外 {behind} 项之后是否收到，这里不知道。",
  "members.allSaid": "它在 {at} 说过，这里有的它都有。",
  "members.allMet": "{at} 两台设备在同一网络中相遇时，这里有的它都有。",
  "members.sent": "它自己的 {n} 项更改在这里。",
  "members.silent": "{at} 加入，之后没有发送过任何内容。",
  "members.onlyIt": "另一台设备保留哪些照片和录音、哪些内容只存在中继上，只有那台设备知道。",
  "members.hot": "{n} 条记忆完整地在这里，过去的和已归档的也算在内。",
  "members.cold": "{n} 条只在中继上。",
  "members.media": "{n} 张照片或录音在这里。",
  "members.coldMedia": "{n} 个只在中继上。",
  "role.writer": "你的", "role.extractor": "代理程序",
  "afar.how": "要更改，请到运行 Locket 的机器上，用那里的控制台或命令", "afar.none": "不能在另一台机器上做",
  "parked.title": "语言模型没能处理的话", "parked.says": "这些话和别的一样保存着，也能找到。只是模型没有给出可用的回答，说不出该记住什么。", "parked.tries": "问过 {n} 次", "parked.first": "这里是最早的 {n} 条。",
  "room.title": "磁盘空间", "room.says": "设了上限后，最少用到的记忆只加密存在中继上，这里留着它们的索引；需要时会取回来。固定的、“关于你”的、秘密，以及还没有送到中继的，都留在这里。", "room.budget": "上限", "room.none": "没有。", "room.set": "这是机器上的设置：", "room.records": "{n} 条记忆", "room.hot": "在这里的记忆，过去的和已归档的也算", "room.cold": "只在中继上的记忆", "room.media": "在这里的照片和录音", "room.coldMedia": "只在中继上的照片和录音", "room.blocked": "没能守住上限：", "room.missing": "中继上的现在取不回来：",
  "room.keep": "现在就按上限整理", "room.all": "把所有记忆取回这里", "room.cooled": "{n} 条记忆现在只在中继上。", "room.back": "取回了 {n} 条记忆。", "room.left": "取回了 {n} 条，{left} 条现在取不回来。", "room.photos": "把所有照片和录音复制到这里", "room.photosAt": "{n} / {of}", "room.photosHere": "所有照片和录音都在这里了；这次复制了 {n} 个。", "room.photosLeft": "复制了 {n} 个；另外 {left} 个还没有设备送出来。",
  "kept.title": "保留多久", "kept.says": "某些内容在规则所说的时间里没有再听到，就会在你的所有设备上清除。固定的会留下。", "kept.look": "这些规则，以及现在会清除什么", "kept.none": "没有规则：记忆会一直保留，直到你忘掉它们。", "kept.ends": "现在到期：{memories} 条记忆和 {lines} 句话。节点下次整理时会清除它们。",
};
