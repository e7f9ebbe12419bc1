// The pages that are loaded after the first one: see later.tsx.

export { AfarPage } from "./afar";
export { AskPage } from "./ask";
export { CommunitiesPage } from "./communities";
export { ConsentsPage } from "./consents";
export { DevicesPage } from "./devices";
export { GraphPage } from "./graph";
export { ImportPage } from "./import";
export { InterestsPage } from "./interests";
export { MemoriesPage } from "./memories";
export { MemoryPage } from "./memory";
export { Palette } from "./palette";
export { ReviewPage } from "./review";
export { SetupPage } from "./setup";
export { SharingPage } from "./sharing";
export { ShopPage } from "./shop";
export { WeekPage } from "./week";
export { Welcome } from "./welcome";
export { YearPage } from "./year";
