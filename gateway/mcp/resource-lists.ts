/** Methods that list resources, each with the member of its result that is the list. */
export const RESOURCE_LISTS: Readonly<Record<string, string>> = {
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
};
