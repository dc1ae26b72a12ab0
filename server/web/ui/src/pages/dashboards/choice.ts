import { change, useAddress } from "../../frame/router";

/** useSectionChoice keeps the tabs and the open sections in the address, as `tab.ID` and `open.ID`. */
export function useSectionChoice(): {
  tab: (id: string) => string | undefined;
  open: (s: { id?: string; collapsed?: boolean }) => boolean;
  setTab: (id: string, tab: string) => void;
  setOpen: (id: string, open: boolean) => void;
} {
  const address = useAddress();
  return {
    tab: (id) => address.searchParams.get(`tab.${id}`) ?? undefined,
    open: (s) => {
      const said = address.searchParams.get(`open.${s.id}`);
      return said === null ? s.collapsed !== true : said === "1";
    },
    setTab: (id, tab) => change({ [`tab.${id}`]: tab }),
    setOpen: (id, open) => change({ [`open.${id}`]: open ? "1" : "0" }),
  };
}
