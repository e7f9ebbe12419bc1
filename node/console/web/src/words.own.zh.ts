// Chinese, for doubts, instructions and the export.

import type { enOwn } from "./words.own.en";

export const zhOwn: Record<keyof typeof enOwn, string> = {
  "doubts.title": "Locket 没有把握的内容", "doubts.says": "听得不太明白，或者由你的代理程序写下。你说对的会被固定；归档的不再用来回答。", "doubts.low": "听得不太明白", "doubts.worker": "代理程序写下的", "doubts.right": "对", "doubts.away": "归档", "doubts.correct": "查看或更正",
  "dream.take": "要做这一步", "dream.left": "什么也没做。你去掉的步骤不会再提出。", "dream.skipped": "什么也没做：{n} 步已不适用，因为要改的内容此后变了。", "dream.leftSkipped": "什么也没做：{n} 步已不适用，因为内容此后变了。你去掉的步骤不会再提出。",
  "instructions.title": "语言模型该记什么、不该记什么", "instructions.says": "用你自己的话写。模型读每一句话时都会看到。", "instructions.hint": "工作的事都不要记。我做的菜要记。", "instructions.kept": "已保存。", "instructions.none": "现在没有说明了。", "instructions.long": "超长了 {n} 字节。", "instructions.now": "说明在别处被改过，现在是：", "instructions.over": "你写的还没有保存。再按一次保存就会替换。",
  "export.title": "全部导出", "export.says": "说过的和记住的一切，连同照片和录音，由本设备签名，存成任何人都能读的文件。秘密在里面仍然加密。Locket 可以在这里重新导入。要导出便于阅读的文件夹或加密文件，请在运行 Locket 的机器上输入：", "export.do": "保存文件", "export.busy": "正在写入…", "export.done": "已保存：{size}。",
  "wearables.battery": "电量 {n}%", "graph.among": "这些名字之间：", "memory.gone": "这里已没有这条记忆", "memory.disputed": "它与另外说过的内容矛盾：去裁定", "fact.kept": "保存在", "fact.here": "这台设备上", "fact.elsewhere": "中继上（已加密），以节省这里的空间",
  "sell.next": "新版本", "sell.nextSays": "这是下一个版本。之前的订单按原价继续。", "market.version": "第 {n} 版",
};
